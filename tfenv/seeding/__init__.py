"""The seed of a process and of an environment."""
