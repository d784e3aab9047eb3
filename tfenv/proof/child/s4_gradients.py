"""S4: gradients and what optimizers make of them."""

from __future__ import annotations

from . import s4_optimizers


def run(context):
    """A little in quick; everything in full."""
    if context.level == "quick":
        return s4_optimizers.basic(context)
    return s4_optimizers.every(context)
