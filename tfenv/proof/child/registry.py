"""The stages of the proof, in order: one row and one module each.

A stage module has one function, ``run(context) -> list[dict]``, which returns measurements made by
:mod:`.measure`. To add a stage, add its module and its row. The tfenv process reads this table too, so
nothing here may import more than the standard library.
"""

from __future__ import annotations

from typing import NamedTuple


class StageSpec(NamedTuple):
    """One stage: what it is called, where it lives, when it runs and how long it may take."""

    id: str
    module: str
    title: str
    levels: tuple[str, ...]
    limit: float
    """Seconds after which the stage counts as hung. Generous: a GPU may first compile its kernels."""
    essential: bool = False
    """Whether no later stage can run when this one failed."""


STAGES: tuple[StageSpec, ...] = (
    StageSpec("S0", "s0_import", "import", ("quick", "full", "long"), 180.0, essential=True),
    StageSpec("S5", "s5_memorise", "memorise", ("quick", "full", "long"), 180.0),
    StageSpec("S6", "s6_smoke", "smoke-train", ("quick", "full", "long"), 240.0),
)


def stages_of(level: str) -> tuple[StageSpec, ...]:
    """The stages that ``level`` (quick, full, long) runs, in order."""
    return tuple(stage for stage in STAGES if level in stage.levels)


def stage(stage_id: str) -> StageSpec:
    """The stage called ``stage_id``; KeyError if there is none."""
    return {spec.id: spec for spec in STAGES}[stage_id]
