"""Code that runs outside the tfenv process: in the target interpreter, with the standard library only."""
