"""Rows of operations against NumPy: eagerly one by one, traced together, in every number format."""

from __future__ import annotations

import contextlib
import time

from .compare import difference, raised
from .context import placed_on
from .measure import at_most, equal
from .ops import Case, apply

#: Kinds that are traced in float16 too; of the others it is run eagerly only, because tracing costs most.
TRACED_IN_HALF = ("convolutions", "matrix products", "fused graphs")
EXACT = "as NumPy computes it"
WHY_EXACT = (
    "inputs are small integers, on which this operation is exact in any number format and order of summing"
)
WHY_ROUNDED = (
    "largest error as a share of the tolerance, {tolerance:g} of the largest result: several times what a "
    "device that rounds {what} may err by"
)


class Findings:
    """What was seen of one row, in every way in which it was run."""

    def __init__(self, op):
        self.op = op
        self.case = None
        self.problem = ""
        self.share = 0.0
        self.device = ""
        self.seconds = 0.0
        self.count = 0

    def blame(self, way, problem):
        """Keep the first problem, "" being none, with the way in which the row was run."""
        if problem and not self.problem:
            self.problem = f"{way}: {problem}"

    def compare(self, np, way, case, outputs, gradients):
        """Outputs and gradients of :func:`apply` against what ``case`` expects."""
        if len(outputs) != len(case.outputs):
            return self.blame(way, f"{len(outputs)} outputs, expected {len(case.outputs)}")
        many = len(outputs) > 1
        for number, (output, expected) in enumerate(zip(outputs, case.outputs)):
            self._one(np, f"{way}, output {number + 1}" if many else way, output.numpy(), expected)
        many = len(case.gradients) > 1
        for number, (gradient, expected) in enumerate(zip(gradients, case.gradients)):
            where = f"{way}, gradient of input {number + 1}" if many else f"{way}, gradient"
            if gradient is None:
                self.blame(where, "is missing")
                continue
            got = gradient.numpy()
            along = case.directions[number]
            if along is not None:
                if got.shape != along.shape[1:]:
                    self.blame(where, f"shape is {list(got.shape)}, expected {list(along.shape[1:])}")
                    continue
                where += ", along random directions"
                got = (got.astype("float64") * along).reshape(len(along), -1).sum(1)
            self._one(np, where, got, expected)
        floats = [output for output in outputs if output.dtype.is_floating] or outputs
        # Eagerly, which comes first: what a traced graph returns has been copied to its device.
        self.device = self.device or placed_on(floats[0])
        return None

    def _one(self, np, where, got, expected):
        problem, share = difference(np, got, expected, self.op.tolerance)
        self.blame(where, problem)
        self.share = max(self.share, share)
        self.count += expected.size

    def measurement(self, stage):
        """One measurement of the row."""
        op = self.op
        more = {"n": self.count, "device": self.device, "seconds": self.seconds}
        if not op.tolerance:
            got = self.problem or EXACT
            return equal(f"{stage}.{op.name}", op.title, got, EXACT, why=WHY_EXACT, **more)
        what = "factors to 8 bits" if op.tolerance > 1e-2 else "to 10 bits"
        why = WHY_ROUNDED.format(tolerance=op.tolerance, what=what)
        return at_most(f"{stage}.{op.name}", op.title, self.problem or self.share, 1.0, why=why, **more)


def run_rows(context, stage, rows, dtypes, *, together=None, settings=(), eager_gradients=True):
    """Findings by name of ``rows``, eagerly in every format of ``dtypes``, then traced.

    ``together``: what all are traced as; by default the rows of a kind are. ``settings``: further ways to run
    the trace, as pairs of words and a context manager's factory.
    """
    found = {op.name: Findings(op) for op in rows}
    groups = {}
    for op in rows:
        began = time.perf_counter()
        finding = found[op.name]
        for dtype in dtypes:
            if dtype not in op.dtypes:
                continue
            way = f"{dtype}, eager"
            context.step(f"{op.title}, {way}")
            try:
                case = finding.case = finding.case or Case(context, stage, op)
                arguments = case.tensors(dtype)
                results = apply(context.tf, case, *arguments, gradient=eager_gradients)
                finding.compare(context.np, way, case, *results)
            except Exception as error:
                if not _not_offered(dtype, error):
                    finding.blame(way, raised(error))
                continue
            if not op.traced:
                continue
            if dtype in ("float32", "float64") or (dtype == "float16" and op.kind in TRACED_IN_HALF):
                groups.setdefault(together or op.kind, []).append((case, dtype, arguments))
        finding.seconds = time.perf_counter() - began
    for kind, members in groups.items():
        began = time.perf_counter()
        _run_traced(context, kind, members, found, settings)
        each = (time.perf_counter() - began) / len(members)
        for case, _, _ in members:
            found[case.op.name].seconds += each
    return found


def _run_traced(context, kind, members, found, settings):
    """Run ``members`` in one trace; one by one if that raises, to learn which of them does."""
    arguments = [each for _, _, each in members]
    for words, setting in (("", contextlib.nullcontext), *settings):
        context.step(
            f"traced {words}: {kind} ({', '.join(dict.fromkeys(case.op.name for case, *_ in members))})"
        )
        try:
            with setting():
                results = _traced(context, members)(arguments)
            for (case, dtype, _), result in zip(members, results):
                way = f"{dtype}, traced {words}".rstrip()
                found[case.op.name].compare(context.np, way, case, *result)
        except Exception as error:
            if len(members) == 1:
                ((case, dtype, _),) = members
                found[case.op.name].blame(f"{dtype}, traced {words}".rstrip(), raised(error))
                continue
            for member in members:
                _run_traced(context, kind, [member], found, settings)
            return


def _traced(context, members):
    """One graph of all ``members``, whose inputs are its arguments: constants would be folded on the CPU."""
    tf = context.tf

    def compute(arguments):
        return [apply(tf, case, *each) for (case, _, _), each in zip(members, arguments)]

    return tf.function(compute, autograph=False, jit_compile=False)


def _not_offered(dtype, error):
    """Whether the device says that it does not know bfloat16, which is no fault: many do not."""
    return dtype == "bfloat16" and type(error).__name__ in (
        "NotFoundError",
        "UnimplementedError",
        "InvalidArgumentError",
    )
