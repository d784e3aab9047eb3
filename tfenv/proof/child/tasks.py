"""The two networks users reported, in miniature, and the data they are trained on.

Data is drawn per run. A *group* is one prototype whose class name is drawn at random, independently of
everything else; examples are noisy copies of prototypes. If no label information reaches the weights, each
group is named rightly with probability 1/K, independently: the number of groups named rightly is exactly
binomial, whatever the untrained network does with whole groups.
"""

from __future__ import annotations

from .measure import at_least

SEQUENCE = (24, 4)
CLASSES = 10
BATCH = 96
SIDE = 12
LEARNING_RATE = 0.05
MOMENTUM = 0.9


class Sequences:
    """A Conv1D softmax classifier with one-hot labels, its optimizer (SGD), and its traced training step.

    Stages share it: tracing a step costs more than training with it.
    """

    def __init__(self, context, optimizer=None):
        tf, keras = context.tf, context.keras
        layers = keras.layers
        context.step("build Conv1D classifier")
        context.reseed("sequences")
        inputs = keras.Input(SEQUENCE)
        hidden = layers.Conv1D(12, 3, activation="relu")(inputs)
        outputs = layers.Dense(CLASSES, activation="softmax")(layers.Flatten()(hidden))
        self.model = keras.Model(inputs, outputs)
        self.initial = self.model.get_weights()
        self._optimizer = optimizer or keras.optimizers.SGD(LEARNING_RATE, momentum=MOMENTUM)
        self._optimizer.build(self.model.trainable_variables)
        self._context = context

        def step(x, y):
            with tf.GradientTape() as tape:
                predicted = self.model(x, training=True)
                loss = tf.reduce_mean(keras.losses.categorical_crossentropy(y, predicted))
            variables = self.model.trainable_variables
            self._optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        signature = [tf.TensorSpec((BATCH, *SEQUENCE)), tf.TensorSpec((BATCH, CLASSES))]
        self._step = tf.function(step, input_signature=signature, autograph=False, jit_compile=False)

    def reset(self):
        """Back to the initial weights, with no memory of earlier training in the optimizer."""
        self.model.set_weights(self.initial)
        for variable in self._optimizer.variables:
            if len(variable.shape) > 0:  # momenta; not the step count, not the learning rate
                variable.assign(self._context.np.zeros(variable.shape, "float32"))

    def train(self, x, labels, epochs, after_step=None):
        """Train on ``x`` (n, 24, 4), n a multiple of 96, and integer ``labels``.

        ``after_step`` is called with the number of every step, from 1. Returns the losses, and the last one
        as a tensor, which knows its device.
        """
        context = self._context
        tf, np = context.tf, context.np
        targets = np.eye(CLASSES, dtype="float32")[labels]
        batches = [
            (tf.constant(x[at : at + BATCH]), tf.constant(targets[at : at + BATCH]))
            for at in range(0, len(x), BATCH)
        ]
        losses = []
        for epoch in range(epochs):
            context.step(f"train Conv1D classifier, epoch {epoch + 1}")
            for batch in batches:
                losses.append(self._step(*batch))
                if after_step is not None:
                    after_step(len(losses))
        return [float(loss) for loss in losses], losses[-1]

    def predict(self, x):
        """Class probabilities, computed eagerly, as a tensor."""
        self._context.step("apply Conv1D classifier")
        return self.model(self._context.tf.constant(x), training=False)


def image_classifier(context, name="images", *, rotation=0.0, metrics=None, **adam):
    """A functional CNN with augmentation and a sigmoid, compiled with Adam and binary cross-entropy.

    ``rotation``: at most this part of a full turn; ``adam``: further options of the optimizer.
    """
    keras = context.keras
    layers = keras.layers
    context.step(f"build augmented CNN of {name}")
    context.reseed(name)
    seed = context.seed % 2**31
    inputs = keras.Input((SIDE, SIDE, 1))
    hidden = layers.RandomFlip("horizontal", seed=seed)(inputs)
    if rotation:
        hidden = layers.RandomRotation(rotation, seed=seed)(hidden)
    hidden = layers.Conv2D(32, 3, activation="relu")(hidden)
    hidden = layers.Flatten()(layers.MaxPooling2D()(hidden))
    model = keras.Model(inputs, layers.Dense(1, activation="sigmoid")(hidden))
    model.compile(
        optimizer=keras.optimizers.Adam(0.01, **adam),
        loss="binary_crossentropy",
        metrics=metrics,
        jit_compile=False,
    )
    return model


class Groups:
    """Noisy copies of prototypes whose class names are drawn at random."""

    def __init__(self, context, name, *, groups, classes, shape, noise):
        self._np = context.np
        self._rng = context.generator(name)
        self._noise = noise
        self._classes = classes
        self._prototypes = self._rng.standard_normal((groups, *shape))
        self.names = self._rng.integers(0, classes, groups)

    def draw(self, per_group, *, mirrored=False):
        """``per_group`` examples of each group in random order: inputs, labels, group numbers.

        ``mirrored``: half of the examples are flipped along their second axis.
        """
        np, rng = self._np, self._rng
        group = rng.permutation(np.repeat(np.arange(len(self.names)), per_group))
        x = self._prototypes[group]
        if mirrored:
            flip = rng.random(len(group)) < 0.5
            x[flip] = x[flip][:, :, ::-1]
        x = x + self._noise * rng.standard_normal(x.shape)
        return x.astype("float32"), self.names[group], group

    def named_rightly(self, check, title, right, group, low, **more):
        """The measurement that ``low`` groups or more have over half of their examples ``right``."""
        np = self._np
        share = np.bincount(group, right) / np.bincount(group)
        n, k = len(self.names), self._classes
        return at_least(
            check,
            title,
            int((share > 0.5).sum()),
            low,
            n=n,
            chance=1 / k,
            why="class names of prototypes are drawn per run: without label information in the weights, "
            f"prototypes named rightly are Binomial({n}, 1/{k})",
            **more,
        )


def cross_entropy(context, probabilities, labels):
    """Mean of -log(probability of the label), in float64; probabilities (n, K), integer labels (n,)."""
    np = context.np
    chosen = probabilities.astype("float64")[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(chosen, 1e-7)).mean())


def area_under_curve(np, scores, labels):
    """The Mann-Whitney form: how often a positive example scores above a negative one; ties count half.

    0.5 when one class is absent, which the random names make as likely as 2**-31.
    """
    positive, negative = scores[labels == 1], scores[labels == 0]
    if not len(positive) or not len(negative):
        return 0.5
    difference = positive[:, None].astype("float64") - negative[None, :]
    return float((np.sign(difference) / 2 + 0.5).mean())
