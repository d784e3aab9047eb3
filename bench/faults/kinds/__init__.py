"""The faults, a module for each category."""
