"""What is wrong with an environment, why, and the commands that mend it."""
