"""What optimizers should do to a variable: their published rules in NumPy, float64.

Every rule is ``step(np, weight, gradient, t, state, options) -> weight``: ``t`` from 1, ``state`` a mapping
that starts empty, ``options`` what the optimizer was made with, beyond Keras' defaults. Sources: the papers
named, in the form that the documentation of ``keras.optimizers`` gives.
"""

from __future__ import annotations

RATE = 0.05
STEPS = 5
EPSILON = 1e-7


def walk(np, rule, start, gradients, options):
    """``start`` after each of ``gradients`` by ``rule``, and the state at the end."""
    weight, state, path = np.array(start, "float64"), {}, []
    for t, gradient in enumerate(gradients, 1):
        weight = weight * (1 - RATE * options.get("weight_decay", 0.0))  # decoupled: Loshchilov, Hutter 2019
        weight = rule(np, weight, np.asarray(gradient, "float64"), t, state, options)
        path.append(weight)
    return path, state


def averages(path, start, momentum, from_start):
    """The exponential moving average after each point of ``path``.

    ``from_start``: it begins at ``start``, as in Keras 2; otherwise at the first point, as in Keras 3.
    """
    average = start if from_start else path[0]
    found = []
    for weight in path:
        average = momentum * average + (1 - momentum) * weight
        found.append(average)
    return found


def sgd(np, weight, gradient, t, state, options):
    """Momentum, and Nesterov's (Sutskever et al. 2013)."""
    inertia = options.get("momentum", 0.0)
    velocity = state["momentum"] = inertia * state.get("momentum", 0.0) - RATE * gradient
    return weight + (inertia * velocity - RATE * gradient if options.get("nesterov") else velocity)


def adam(np, weight, gradient, t, state, options):
    """Kingma, Ba 2014, and AMSGrad (Reddi et al. 2018)."""
    mean, square = _moments(gradient, state, 0.9, 0.999)
    if options.get("amsgrad"):
        square = state["largest"] = np.maximum(state.get("largest", 0.0), square)
    rate = RATE * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return weight - rate * mean / (np.sqrt(square) + EPSILON)


def adamax(np, weight, gradient, t, state, options):
    """Kingma, Ba 2014, section 7.1."""
    mean, _ = _moments(gradient, state, 0.9, 0.999)
    norm = state["norm"] = np.maximum(0.999 * state.get("norm", 0.0), np.abs(gradient))
    return weight - RATE / (1 - 0.9**t) * mean / (norm + EPSILON)


def nadam(np, weight, gradient, t, state, options):
    """Dozat 2015."""
    now, soon = (0.9 * (1 - 0.5 * 0.96**step) for step in (t, t + 1))
    product = state["product"] = state.get("product", 1.0) * now
    mean, square = _moments(gradient, state, 0.9, 0.999)
    ahead = soon * mean / (1 - product * soon) + (1 - now) * gradient / (1 - product)
    return weight - RATE * ahead / (np.sqrt(square / (1 - 0.999**t)) + EPSILON)


def ftrl(np, weight, gradient, t, state, options):
    """McMahan et al. 2013, without regularisation; the accumulator starts at 0.1."""
    before = state.get("square", 0.1)
    after = state["square"] = before + gradient**2
    sigma = (np.sqrt(after) - np.sqrt(before)) / RATE
    linear = state["linear"] = state.get("linear", 0.0) + gradient - sigma * weight
    return -linear * RATE / np.sqrt(after)


def rmsprop(np, weight, gradient, t, state, options):
    """Tieleman, Hinton 2012; centred: Graves 2013."""
    mean, square = _moments(gradient, state, 0.9, 0.9)
    variance = square - mean**2 if options.get("centered") else square
    inertia = options.get("momentum", 0.0)
    step = RATE * gradient / np.sqrt(variance + EPSILON)
    velocity = state["momentum"] = inertia * state.get("momentum", 0.0) + step
    return weight - velocity


def adagrad(np, weight, gradient, t, state, options):
    """Duchi et al. 2011; the accumulator starts at 0.1."""
    square = state["square"] = state.get("square", 0.1) + gradient**2
    return weight - RATE * gradient / np.sqrt(square + EPSILON)


def adadelta(np, weight, gradient, t, state, options):
    """Zeiler 2012, decay 0.95."""
    square = state["square"] = 0.95 * state.get("square", 0.0) + 0.05 * gradient**2
    moved = state.get("moved", 0.0)
    change = np.sqrt(moved + EPSILON) / np.sqrt(square + EPSILON) * gradient
    state["moved"] = 0.95 * moved + 0.05 * change**2
    return weight - options["learning_rate"] * change


def lion(np, weight, gradient, t, state, options):
    """Chen et al. 2023."""
    mean = state.get("mean", 0.0)
    state["mean"] = 0.99 * mean + 0.01 * gradient
    return weight - RATE * np.sign(0.9 * mean + 0.1 * gradient)


def _moments(gradient, state, first, second):
    """The running means of gradient and squared gradient, both from zero."""
    state["mean"] = first * state.get("mean", 0.0) + (1 - first) * gradient
    state["square"] = second * state.get("square", 0.0) + (1 - second) * gradient**2
    return state["mean"], state["square"]


#: What is checked: name, Keras' class, options, rule, and the states that Keras keeps in variables.
RULES = (
    ("sgd", "SGD", {}, sgd, ()),
    ("momentum", "SGD", {"momentum": 0.9}, sgd, ("momentum",)),
    ("nesterov", "SGD", {"momentum": 0.9, "nesterov": True}, sgd, ("momentum",)),
    ("adam", "Adam", {}, adam, ("mean", "square")),
    ("amsgrad", "Adam", {"amsgrad": True}, adam, ("mean", "square", "largest")),
    ("adam-ema", "Adam", {"use_ema": True, "ema_momentum": 0.8}, adam, ("mean", "square")),
    ("adamw", "AdamW", {"weight_decay": 0.04}, adam, ("mean", "square")),
    ("adamax", "Adamax", {}, adamax, ("mean", "norm")),
    ("nadam", "Nadam", {}, nadam, ("mean", "square")),
    ("ftrl", "Ftrl", {}, ftrl, ("square", "linear")),
    ("rmsprop", "RMSprop", {}, rmsprop, ("square",)),
    ("rmsprop-centered", "RMSprop", {"momentum": 0.5, "centered": True}, rmsprop, ("mean", "square")),
    ("adagrad", "Adagrad", {}, adagrad, ("square",)),
    # The rate of the paper: with a smaller one the steps would be too small beside float32 weights.
    ("adadelta", "Adadelta", {"learning_rate": 1.0}, adadelta, ("square", "moved")),
    ("lion", "Lion", {}, lion, ("mean",)),
    # The gradient of an embedding: some rows only.
    ("sparse-momentum", "SGD", {"momentum": 0.9}, sgd, ("momentum",)),
    ("sparse-adam", "Adam", {}, adam, ("mean", "square")),
)
