"""The stages of the proof, in order: one row and one module each.

A stage module has one function, ``run(context) -> list[dict]``, which returns measurements made by
:mod:`.measure`. To add a stage, add its module and its row. The tfenv process reads this table too, so
nothing here may import more than the standard library.

Most stages run in the first process, one after the other. Where a stage must see a fresh interpreter, its
row names a module for that: two such processes run at the same time, once the first has ended.
"""

from __future__ import annotations

from typing import NamedTuple


class StageSpec(NamedTuple):
    """One stage: what it is called, where it lives, when it runs and how long it may take."""

    id: str
    module: str
    """What runs in the first process; "" for nothing."""
    title: str
    levels: tuple[str, ...]
    limit: float
    """Seconds after which the stage counts as hung. Generous: a GPU may first compile its kernels."""
    essential: bool = False
    """Whether no later stage can run when this one failed."""
    fresh: str = ""
    """What then runs in a fresh process, with what the first one left in ``context.exchange``."""
    twice: str = ""
    """What runs in two fresh processes, whose digests must be equal."""

    def module_in(self, process: int) -> str:
        """The module that runs in ``process``: 0 is the first, 1 and 2 are fresh; "" for none."""
        if self.essential:
            return self.module
        return (self.module, self.twice or self.fresh, self.twice)[process]


STAGES: tuple[StageSpec, ...] = (
    StageSpec("S0", "s0_import", "import", ("quick", "full", "long"), 180.0, essential=True),
    StageSpec("S1", "s1_ops", "operations", ("quick", "full", "long"), 300.0),
    StageSpec("S2", "s2_fused", "fused graphs", ("quick", "full", "long"), 180.0),
    StageSpec("S3", "s3_random", "random", ("quick", "full", "long"), 180.0),
    StageSpec("S4", "s4_gradients", "gradients", ("quick", "full", "long"), 180.0),
    StageSpec("S5", "s5_memorise", "memorise", ("quick", "full", "long"), 180.0),
    StageSpec("S6", "s6_smoke", "smoke-train", ("quick", "full", "long"), 240.0),
    StageSpec("S7", "s7_tail", "tail", ("full", "long"), 600.0),
    StageSpec("S8", "s8_save", "round trip", ("full", "long"), 180.0, fresh="s8_load"),
    StageSpec("S9", "", "repeat", ("full", "long"), 180.0, twice="s9_repeat"),
    # Compares what the other stages gave on the CPU and on the accelerator; no process runs it.
    StageSpec("S10", "", "differential", (), 0.0),
)


def stages_of(level: str) -> tuple[StageSpec, ...]:
    """The stages that ``level`` (quick, full, long) runs, in order."""
    return tuple(stage for stage in STAGES if level in stage.levels)


def stages_in(level: str, process: int) -> tuple[str, ...]:
    """The ids of what ``process`` runs at ``level``, in order; () when it need not be started.

    What runs twice comes first, so that both processes reach it in the same state.
    """
    rows = [spec for spec in stages_of(level) if spec.module_in(process)]
    if process:
        rows.sort(key=lambda spec: (not spec.essential, not spec.twice))
    return () if all(spec.essential for spec in rows) else tuple(spec.id for spec in rows)


def stage(stage_id: str) -> StageSpec:
    """The stage called ``stage_id``; KeyError if there is none."""
    return {spec.id: spec for spec in STAGES}[stage_id]
