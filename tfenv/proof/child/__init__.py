"""What runs inside the interpreter that is being proven: standard library, NumPy and TensorFlow only.

That interpreter need not have tfenv, so ``main.py`` is started by its path and everything here is imported
relatively. Python 3.9 syntax.
"""
