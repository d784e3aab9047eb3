"""Where TensorFlow's random numbers come from: global state, a seed given, a generator's state."""

from __future__ import annotations

import time

from . import laws
from .compare import raised
from .context import placed_on
from .laws import follows
from .measure import equal

N = 8192
SCALARS = 64
RIGHT = "draws vary, and equal seeds repeat them"
WHY = "two draws of 8192 numbers agree in more than half of their places with probability below 1e-100"
#: Probabilities of the classes that ``categorical`` draws.
SHARES = (0.1, 0.2, 0.3, 0.4)
_WHOLE = {"minval": 0, "maxval": 10, "dtype": "int32"}
#: Check name, method, options and law of what every kind of source can draw.
_NUMBERS = (
    ("uniform", "uniform", {}, laws.uniform(0.0, 1.0)),
    ("normal", "normal", {}, laws.NORMAL),
    ("truncated", "truncated_normal", {}, laws.truncated()),
    ("int", "uniform", _WHOLE, laws.classes([0.1] * 10)),
)


class Source:
    """One way to draw N numbers: ``start(tf, seed)`` gives a function of the number of the draw."""

    def __init__(self, name, title, law, start):
        self.name = name
        self.title = title
        self.law = law
        self.start = start


def sources():
    """Every source."""
    found = []
    for name, method, options, law in _NUMBERS:
        label = f"{method}(int32)" if options else method
        found += [
            Source(name, f"tf.random.{label}", law, _stateful(method, options)),
            Source(f"stateless-{name}", f"tf.random.stateless_{label}", law, _stateless(method, options)),
            Source(f"generator-{name}", f"tf.random.Generator.{label}", law, _generator(method, options)),
        ]
    shares = laws.classes(SHARES)
    return [
        *found,
        Source("shuffle", "tf.random.shuffle", None, _shuffle),
        Source("categorical", "tf.random.categorical", shares, _categorical),
        Source("stateless-categorical", "tf.random.stateless_categorical", shares, _stateless_categorical),
    ]


def basic(context):
    """For the quick level: four sources, eagerly, with their laws."""
    names = ("uniform", "normal", "stateless-int", "shuffle")
    found = [_Draws(context, source) for source in sources() if source.name in names]
    return [measurement for draws in found for measurement in (draws.measurement(), *draws.law())]


def every(context):
    """All sources, eagerly and traced, with their laws; scalar draws."""
    found = [_Draws(context, source) for source in sources()]
    _traced(context, [draws for draws in found if not draws.problem])
    measured = [measurement for draws in found for measurement in (draws.measurement(), *draws.law())]
    return [*measured, _scalars(context)]


class _Draws:
    """What one source gave, and what was wrong with it."""

    def __init__(self, context, source):
        self.context, self.source = context, source
        self.problem = self.device = ""
        self.drawn = []
        # Far apart: a seed is where a Generator starts on one common sequence, so neighbours overlap.
        self.seeds = [
            int(seed) for seed in context.generator("random." + source.name).integers(2**30, size=3)
        ]
        began = time.perf_counter()
        context.step(f"{source.title}, eager")
        try:
            self._eagerly()
        except Exception as error:
            self.raised("eager", error)
        self.seconds = time.perf_counter() - began

    def _eagerly(self):
        tf, start = self.context.tf, self.source.start
        draw = start(tf, self.seeds[0])
        first, second = draw(0), draw(1)
        self.device = placed_on(first)
        self.add("eager", first, second)
        if not self.context.np.array_equal(start(tf, self.seeds[0])(0).numpy(), first.numpy()):
            self.blame("eager: the same seed does not repeat the numbers")
        if self._agree(start(tf, self.seeds[1])(0).numpy(), first.numpy()):
            self.blame("eager: another seed gives the same numbers")

    def add(self, way, *drawn):
        """Keep draws, which must differ."""
        np = self.context.np
        drawn = [one.numpy() for one in drawn]
        for one in drawn:
            if self.source.law is None and not np.array_equal(np.sort(one), np.arange(N)):
                self.blame(f"{way}: no permutation, some entries are missing")
            if len(np.unique(one)) < len(SHARES):
                self.blame(
                    f"{way}: all {N} numbers are {', '.join(f'{value:g}' for value in np.unique(one))}"
                )
        for before, after in zip(drawn, drawn[1:]):
            if self._agree(before, after):
                self.blame(f"{way}: the second draw repeats the first")
        self.drawn += drawn

    def raised(self, way, error):
        """Keep that ``error`` ended it."""
        self.blame(f"{way}: {raised(error)}")

    def blame(self, problem):
        """Keep the first problem."""
        self.problem = self.problem or problem

    def measurement(self):
        """Whether draws vary and repeat as they should."""
        more = {"n": N, "device": self.device, "seconds": self.seconds}
        return equal(
            f"S3.{self.source.name}", self.source.title, self.problem or RIGHT, RIGHT, why=WHY, **more
        )

    def law(self):
        """Whether the numbers follow the law they should."""
        if not self.drawn or self.source.law is None:
            return []
        name, title = f"S3.{self.source.name}.law", f"law of {self.source.title}"
        values = self.context.np.concatenate(self.drawn)
        return [follows(self.context.np, name, title, values, self.source.law, device=self.device)]

    def _agree(self, one, other):
        return float((one == other).mean()) > 0.5


def _traced(context, found):
    """Two calls of one graph with all sources: tracing is what costs."""
    tf = context.tf
    context.step("random numbers, traced")
    draws = [one.source.start(tf, one.seeds[2]) for one in found]
    traced = tf.function(lambda number: [draw(number) for draw in draws], autograph=False)
    try:
        first, second = (traced(tf.constant(number)) for number in (2, 3))
        for one, *drawn in zip(found, first, second):
            one.add("traced", *drawn)
    except Exception as error:
        for one in found:
            one.raised("traced, all sources in one graph", error)


def _scalars(context):
    """Draws of a single number, which have been constant where longer ones were not."""
    tf, np = context.tf, context.np
    context.step("tf.random.uniform([])")
    tf.random.set_seed(int(context.generator("random.scalar").integers(2**30)))
    traced = tf.function(lambda: tf.random.uniform([]), autograph=False)
    ways = {"eager": lambda: tf.random.uniform([]), "traced": traced}
    problem = ""
    for way, draw in ways.items():
        different = len(np.unique([float(draw()) for _ in range(SCALARS)]))
        if different < SCALARS - 4:
            problem = problem or f"{way}: {different} different numbers in {SCALARS} draws"
    return equal(
        "S3.scalar",
        "tf.random.uniform([]), one number at a time",
        problem or RIGHT,
        RIGHT,
        why=f"5 of {SCALARS} draws of 2**23 possible numbers are repeated with probability below 1e-15",
        n=SCALARS,
        device=placed_on(tf.random.uniform([])),
    )


def _stateful(method, options):
    def start(tf, seed):
        tf.random.set_seed(seed)
        return lambda number: getattr(tf.random, method)([N], **options)

    return start


def _stateless(method, options):
    def start(tf, seed):
        return lambda number: getattr(tf.random, "stateless_" + method)([N], seed=[seed, number], **options)

    return start


def _generator(method, options):
    def start(tf, seed):
        generator = tf.random.Generator.from_seed(seed)
        return lambda number: getattr(generator, method)([N], **options)

    return start


def _shuffle(tf, seed):
    tf.random.set_seed(seed)
    return lambda number: tf.random.shuffle(tf.range(float(N)))


def _categorical(tf, seed):
    tf.random.set_seed(seed)
    return lambda number: tf.random.categorical(tf.math.log([SHARES]), N)[0]


def _stateless_categorical(tf, seed):
    return lambda number: tf.random.stateless_categorical(tf.math.log([SHARES]), N, seed=[seed, number])[0]
