"""The optimizers' part of S4: every step against the published rule, eagerly and traced.

Gradients are given, so nothing but the optimizer can be wrong. A gradient scaled by a constant is no fault
under Adam, so what an optimizer keeps is compared up to a factor.
"""

from __future__ import annotations

import time

from .arithmetic import distance
from .compare import raised
from .context import placed_on
from .measure import equal
from .optimizers import RATE, RULES, STEPS, averages, walk

#: Of the movement, as a norm. The smallest wrong step, one element of 12 left out, is about 0.1.
TOLERANCE = 1e-3
SHAPE = (3, 4)
#: The rows that a sparse gradient names. No row twice under Adam: Keras 3 then sums the squares of the parts,
#: Keras 2 squares the sum.
ROWS = {"sparse-momentum": (0, 2, 0, 1), "sparse-adam": (2, 0)}
RIGHT = "as its rule says"
#: Also traced, in one graph: those that people train with most, and one without a fused kernel on Metal.
TRACED = ("nesterov", "adam", "adam-ema", "adamw", "adamax", "rmsprop")
WHY = (
    "the published rule in NumPy, float64, fed the same gradients; a thousandth of the movement is allowed, "
    "float32 needed at most a tenth of that (200 seeds)"
)


def basic(context):
    """For the quick level: Adam and SGD with momentum, eagerly."""
    return [_eagerly(context, rule).measurement() for rule in RULES if rule[0] in ("momentum", "adam")]


def every(context):
    """Every optimizer that this Keras has, eagerly; the common ones traced too."""
    rules = [rule for rule in RULES if hasattr(context.keras.optimizers, rule[1])]
    walks = [_eagerly(context, rule) for rule in rules]
    _traced(context, [one for one in walks if one.name in TRACED and not one.problem])
    return [one.measurement() for one in walks]


class _Walk:
    """One optimizer on its way, and what was wrong with it."""

    def __init__(self, context, rule):
        self.name, self.kind, self.options, self.rule, self.states = rule
        self.context = context
        self.problem = self.device = ""
        self.worst = 0.0
        self.began = time.perf_counter()
        rng = context.generator("optimizer." + self.name)
        self.start = rng.standard_normal(SHAPE).astype("float32")
        self.gradients = [rng.standard_normal(SHAPE).astype("float32") for _ in range(STEPS)]
        self.rows = ROWS.get(self.name)
        if self.rows:
            shape = (len(self.rows), SHAPE[1])
            self.slices = [rng.standard_normal(shape).astype("float32") for _ in range(STEPS)]
            self.gradients = [_summed(context.np, self.rows, values) for values in self.slices]

    def gradient(self, step):
        """What the optimizer is fed at ``step``, from 0."""
        tf = self.context.tf
        if not self.rows:
            return tf.constant(self.gradients[step])
        return tf.IndexedSlices(tf.constant(self.slices[step]), tf.constant(self.rows), tf.constant(SHAPE))

    def make(self):
        """A fresh variable and optimizer."""
        keras = self.context.keras
        make_variable = getattr(keras, "Variable", self.context.tf.Variable)
        variable = make_variable(self.start, dtype="float32")
        optimizer = getattr(keras.optimizers, self.kind)(**{"learning_rate": RATE, **self.options})
        optimizer.build([variable])
        return variable, optimizer

    def judge(self, way, variable, optimizer, path):
        """Compare the ``path`` that ``variable`` took, and what ``optimizer`` kept, with the rule."""
        np = self.context.np
        expected, state = walk(np, self.rule, self.start, self.gradients, self.options)
        for step, (got, wanted) in enumerate(zip(path, expected), 1):
            self._compare(f"{way}, step {step}", got, wanted)
        kept = [np.asarray(slot) for slot in optimizer.variables if tuple(slot.shape) == SHAPE]
        for name in self.states:
            near = min((_apart_up_to_a_factor(np, slot, state[name]) for slot in kept), default=1.0)
            self.worst = max(self.worst, near)
            if not near <= TOLERANCE:
                self._blame(f"{way}: keeps no running {name} of the gradients as it should")
        if "ema_momentum" in self.options:
            optimizer.finalize_variable_values([variable])
            is_keras_2 = not hasattr(self.context.keras, "Variable")
            average = averages(expected, self.start, self.options["ema_momentum"], from_start=is_keras_2)
            self._compare(f"{way}, moving average", np.asarray(variable), average[-1])
        self.device = placed_on(variable.value if hasattr(variable.value, "device") else variable)

    def raised(self, way, error):
        """Keep that ``error`` ended it."""
        self._blame(f"{way}: {raised(error)}")

    def measurement(self):
        """What it all amounts to."""
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return equal(
            f"S4.{self.name}",
            f"{self.kind}({options}){', sparse gradients' if self.rows else ''}, {STEPS} steps",
            self.problem or RIGHT,
            RIGHT,
            why=WHY,
            n=STEPS,
            device=self.device,
            seconds=time.perf_counter() - self.began,
        )

    def _compare(self, where, got, wanted):
        np = self.context.np
        apart = distance(np, got - self.start, wanted - self.start)
        self.worst = max(self.worst, apart)
        if not apart <= TOLERANCE:
            at = (
                np.unravel_index(np.nanargmax(np.abs(got - wanted)), SHAPE)
                if np.isfinite(got).any()
                else (0, 0)
            )
            self._blame(
                f"{where}: element {[int(i) for i in at]} moved by {got[at] - self.start[at]:.6g}, "
                f"expected {wanted[at] - self.start[at]:.6g}"
            )

    def _blame(self, problem):
        self.problem = self.problem or problem


def _eagerly(context, rule):
    one = _Walk(context, rule)
    context.step(f"optimizer {one.name}, eager")
    try:
        variable, optimizer = one.make()
        path = []
        for step in range(STEPS):
            optimizer.apply_gradients([(one.gradient(step), variable)])
            path.append(context.np.array(variable))
        one.judge("eager", variable, optimizer, path)
    except Exception as error:
        one.raised("eager", error)
    return one


def _traced(context, walks):
    """All in one graph: tracing is what costs."""
    tf, np = context.tf, context.np
    context.step("optimizers, traced")
    made = [one.make() for one in walks]

    def step(*gradients):
        for gradient, (variable, optimizer) in zip(gradients, made):
            optimizer.apply_gradients([(gradient, variable)])

    paths = [[] for _ in walks]
    try:
        traced = tf.function(step, autograph=False)
        for at in range(STEPS):
            context.step(f"optimizers, traced, step {at + 1}")
            traced(*(one.gradient(at) for one in walks))
            for path, (variable, _) in zip(paths, made):
                path.append(np.array(variable))
        for one, path, (variable, optimizer) in zip(walks, paths, made):
            one.judge("traced", variable, optimizer, path)
    except Exception as error:
        for one in walks:
            one.raised("traced, all optimizers in one graph", error)


def _summed(np, rows, values):
    """The dense gradient of sparse rows."""
    dense = np.zeros(SHAPE, "float32")
    np.add.at(dense, list(rows), values)
    return dense


def _apart_up_to_a_factor(np, got, expected):
    """The distance of two arrays that may be scaled; 1 for one that is zero or no number."""
    scale = float(np.vdot(got, got))
    if not 0 < scale < float("inf"):
        return 1.0
    return distance(np, got * (float(np.vdot(got, expected)) / scale), expected)
