"""S9: everything that a seed decides, as digests of exact bits; op determinism is on.

This runs in two fresh processes with the same seed. The digests must be equal, and together are the
*fingerprint* of the stack, which can be compared with that of any other run of the same key.
"""

from __future__ import annotations

import time

from . import fingerprint_key
from .context import placed_on
from .measure import equal
from .tasks import BATCH, CLASSES, SEQUENCE, SIDE, Groups, Sequences, image_classifier

#: Raise it when what is digested changes: fingerprints of another recipe cannot be compared.
RECIPE = 1


def run(context):
    """Digest draws, and the initial weights, losses and predictions of both networks."""
    from tensorflow.python.framework import config

    began = time.perf_counter()
    device = _draws(context)
    _images(context)
    _sequences(context)
    context.step("describe the stack")
    context.tell("key", key=fingerprint_key.of(context, RECIPE))
    return [
        equal(
            "S9.determinism",
            "op determinism is on",
            str(bool(config.is_op_determinism_enabled())),
            "True",
            why="tf.config.experimental.enable_op_determinism() was called before any operation",
            device=device,
            seconds=time.perf_counter() - began,
        )
    ]


def _draws(context):
    """Every kind of random generator, and what Keras draws; the device they ran on."""
    tf, keras = context.tf, context.keras
    context.reseed("draws")
    generator = tf.random.Generator.from_seed(context.seed % 2**31)
    layers = keras.layers
    kinds = {
        "uniform": lambda: tf.random.uniform([64]),
        "normal": lambda: tf.random.normal([64]),
        "truncated normal": lambda: tf.random.truncated_normal([64]),
        "integers": lambda: tf.random.uniform([64], 0, 1000, tf.int32),
        "stateless": lambda: tf.random.stateless_normal([64], [context.seed % 2**31, 1]),
        "Generator": lambda: generator.normal([64]),
        "shuffle": lambda: tf.random.shuffle(tf.range(64)),
        "initialiser": lambda: keras.initializers.GlorotUniform(seed=None)((8, 8)),
        "dropout": lambda: layers.Dropout(0.5)(tf.ones([64]), training=True),
        "tf.data": lambda: tf.stack(list(tf.data.Dataset.range(64).shuffle(64))),
        "NumPy": lambda: tf.constant(context.np.random.random(64)),
    }
    drawn, device = [], ""
    for name, draw in kinds.items():
        context.step(f"draw: {name}")
        try:
            value = draw()
            drawn.append(value.numpy())
            device = device or placed_on(value)
        except Exception as error:  # what a device cannot draw is S3's to tell; here it must only repeat
            drawn.append(context.np.frombuffer(type(error).__name__.encode(), "uint8"))
    context.digest("draws", *drawn)
    return device


def _images(context):
    np, keras = context.np, context.keras
    groups = Groups(context, "images", groups=32, classes=2, shape=(SIDE, SIDE, 1), noise=0.5)
    x, labels, _ = groups.draw(12, mirrored=True)
    model = image_classifier(context)
    context.digest("images.weights", *model.get_weights())
    losses = []

    class Watch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            losses.append(float(logs["loss"]))

    context.step("fit augmented CNN")
    model.fit(x, labels[:, None].astype("float32"), batch_size=32, epochs=1, verbose=0, callbacks=[Watch()])
    context.step("predict with augmented CNN")
    scores = np.asarray(model.predict_on_batch(x[:64]))
    context.curve("images", losses)
    context.digest("images.losses", np.float64(losses))
    context.digest("images.predictions", scores)


def _sequences(context):
    np = context.np
    groups = Groups(context, "sequences", groups=24, classes=CLASSES, shape=SEQUENCE, noise=1.0)
    x, labels, _ = groups.draw(BATCH // 24 * 2)
    sequences = context.shared("sequences", Sequences)
    sequences.reset()
    context.digest("sequences.weights", *sequences.model.get_weights())
    losses, _ = sequences.train(x, labels, epochs=10)
    context.curve("sequences", losses)
    context.digest("sequences.losses", np.float64(losses))
    context.digest("sequences.predictions", sequences.predict(x).numpy())
