"""How a failed check is told: which id a finding gets, its title and its cause, by the check's id.

``{got}``, ``{expected}``, ``{title}`` and ``{device}`` in a title are the check's.
"""

from __future__ import annotations

from tfenv.proof.model import Check
from tfenv.records import record


@record
class Words:
    """The words for one kind of failed check."""

    id: str
    title: str
    cause: str


_BACKEND = Words(
    id="IMP002",
    title="Keras computes with {got}, not with TensorFlow",
    cause="KERAS_BACKEND, or the file keras.json in the user's .keras folder, chooses it.",
)
_MIXED = Words(
    id="IMP002",
    title="the TensorFlow that is imported ({got}) is not the one that is installed ({expected})",
    cause="Two releases are mixed in one folder, or another copy comes first on the import path.",
)
_NO_GPU = Words(
    id="DEV001",
    title="TensorFlow lists no GPU, only {got}",
    cause="It found no usable one: driver, CUDA libraries or plugin are missing or do not fit.",
)
_PLACED_ELSEWHERE = Words(
    id="DEV002",
    title="operations ran on {got}, not on {expected}",
    cause="They silently fell back to another device: the one asked for has no kernel for them.",
)
_WRONG_PRODUCT = Words(
    id="DEV002",
    title="{title} is wrong or ran elsewhere: {got}",
    cause="The simplest operation fails: driver, plugin or library do not fit this TensorFlow.",
)
_WRONG_OPERATION = Words(
    id="OPS001",
    title="an operation computes wrong values{device}: {title}: {got}, expected {expected}",
    cause="Its kernel is wrong on this device. A network that uses it trains on wrong numbers, often without "
    "any error.",
)
_WRONG_FUSED = Words(
    id="OPS002",
    title="a traced graph computes something else than the same code run eagerly{device}: {title}: {got}, "
    "expected {expected}",
    cause="The graph optimizer of TensorFlow or of a device plugin replaces this pattern by a fused kernel, "
    "and that is wrong. model.fit and model.predict are traced; calling the model directly is not.",
)
_NOT_RANDOM = Words(
    id="RND001",
    title="random numbers are not what they should be{device}: {title}: {got}, expected {expected}",
    cause="A random generator returns constants, repeats itself, ignores its seed or has the wrong "
    "distribution. Initial weights, dropout, shuffling and augmentation depend on it.",
)
_WRONG_GRADIENT = Words(
    id="GRD001",
    title="training uses wrong gradients or updates{device}: {title}: {got}, expected {expected}",
    cause="A backward pass or an optimizer's kernel is wrong or dead. Training hides this: the other layers "
    "learn around it.",
)
_NOT_MEMORISED = Words(
    id="TRN001",
    title="the stack does not learn: {got} random labels memorised, expected {expected}",
    cause="Label information does not reach the weights: gradients, the optimizer or the copying of data to "
    "the device are broken.",
)
_NOT_LEARNED = Words(
    id="TRN002",
    title="the stack does not learn: {title} {got}, expected {expected}",
    cause="The network does not learn what healthy stacks learn from the same data in as many steps.",
)
_LEARNS_DIFFERENTLY = Words(
    id="TRN002",
    title="the stack learns wrongly: {title} {got}, healthy stacks {expected}",
    cause="It learns, but not as healthy stacks of its kind do: an operation, a random generator or the "
    "optimizer gives wrong values.",
)
_STRAYS = Words(
    id="GRD001",
    title="training does not go the way that arithmetic says{device}: {title}: {got}, expected {expected}",
    cause="The same steps in NumPy lead elsewhere: a gradient is dead or noisy, an operation gives wrong "
    "values, a batch does not arrive, or the optimizer makes another step. Accuracy may still look fine.",
)
_DIVERGES = Words(
    id="TRN004",
    title="training goes wrong late{device}: {title}: {got}, expected {expected}",
    cause="The loss climbs again after the network has learned: an operation or the optimizer gives wrong "
    "values for small gradients, or its state is damaged.",
)
_NOTHING_TO_SAVE = Words(
    id="TRN002",
    title="the stack does not learn: {title} {got}, expected {expected}",
    cause="The network that was to be saved has learned nothing, so saving cannot be tested.",
)
_NOT_RESTORED = Words(
    id="SAV001",
    title="a saved model answers differently in another process: {title}: {got}",
    cause="Saving or loading loses weights, normalisation statistics or settings, so a model that is good "
    "here is bad in the next notebook. Mostly Keras and h5py do not fit each other.",
)
_NOT_REPEATED = Words(
    id="REP001",
    title="the same seed does not give the same bits twice{device}: {title}: {got}",
    cause="Op determinism is on, so TensorFlow promises equal results. What differs depends on chance, on "
    "memory that was never set, or on the order of threads: experiments cannot be repeated on this stack.",
)
_DEVICES_DIFFER = Words(
    id="DIF001",
    title="the CPU and the accelerator differ: {title}: {got}",
    cause="Both had the same inputs, seed and steps.",
)

#: By the start or the end of a check's id; the first match counts.
_BY_ID = (
    ("S0.version", _MIXED),
    ("S0.keras-backend", _BACKEND),
    ("S0.gpu", _NO_GPU),
    ("S0.product", _WRONG_PRODUCT),
    (".placement", _PLACED_ELSEWHERE),
    ("S10.", _DEVICES_DIFFER),
    ("S1.", _WRONG_OPERATION),
    ("S2.", _WRONG_FUSED),
    ("S3.", _NOT_RANDOM),
    ("S4.", _WRONG_GRADIENT),
    ("S5.correct", _NOT_MEMORISED),
    ("S7.", _DIVERGES),
    ("S8.trained", _NOTHING_TO_SAVE),
    ("S8.", _NOT_RESTORED),
    ("S9.", _NOT_REPEATED),
    (".groups", _NOT_LEARNED),
    (".trajectory", _STRAYS),
    (".update", _STRAYS),
    (".weights", _STRAYS),
    (".initial", _NOT_RANDOM),
    (".initial.law", _NOT_RANDOM),
    (".moved", _WRONG_GRADIENT),
)


def words_for(check: Check) -> Words:
    """The words for ``check``, which failed."""
    for part, words in _BY_ID:
        if check.id.startswith(part) or check.id.endswith(part):
            return words
    return _LEARNS_DIFFERENTLY


def title_of(check: Check) -> str:
    """The title of a finding about ``check``."""
    device = f" on {check.device}" if check.device else ""
    return words_for(check).title.format(
        got=check.got, expected=check.expected, title=check.title, device=device
    )
