"""Layers that live on random numbers: dropout, noise, augmentation, random image operations in a pipeline."""

from __future__ import annotations

import math
import time

from .compare import raised
from .context import placed_on
from .laws import LIMIT, NORMAL, WHY, follows
from .measure import between, equal

RATE = 0.3
IMAGES = (64, 8, 8, 1)
VARIES = "varies from call to call and leaves inputs alone at inference"


def dropout(context):
    """Rate, scale and masks of Dropout, eagerly and traced."""
    np = context.np
    ones = np.ones((64, 256), "float32")
    masks, problem, device = _calls(
        context, "Dropout", context.keras.layers.Dropout(RATE, seed=_seed(context, "dropout")), ones
    )
    if not problem:
        scale = np.float32(1 / (1 - RATE))
        wrong = [
            float(value) for mask in masks for value in np.unique(mask) if value and abs(value - scale) > 1e-5
        ]
        if wrong:
            problem = f"kept values become {wrong[0]:.7g}, expected {scale:.7g}"
    kept = np.concatenate([mask.ravel() for mask in masks] or [np.zeros(1)]) != 0
    error = abs(float(kept.mean()) - (1 - RATE)) / math.sqrt(RATE * (1 - RATE) / kept.size)
    return [
        _varies("S3.dropout", f"Dropout({RATE})", problem, device, ones.size),
        between(
            "S3.dropout.rate",
            f"share that Dropout({RATE}) keeps, in standard errors from {1 - RATE:.3g}",
            error,
            0.0,
            LIMIT,
            n=kept.size,
            why=WHY,
            device=device,
        ),
    ]


def noise(context):
    """GaussianNoise, eagerly and traced."""
    np = context.np
    zeros = np.zeros((64, 128), "float32")
    layer = context.keras.layers.GaussianNoise(0.5, seed=_seed(context, "noise"))
    drawn, problem, device = _calls(context, "GaussianNoise", layer, zeros)
    found = [_varies("S3.noise", "GaussianNoise(0.5)", problem, device, zeros.size)]
    if drawn:
        values = np.concatenate(drawn)
        found.append(
            follows(
                np, "S3.noise.law", "law of GaussianNoise(0.5)", values, NORMAL.scaled(0.5), device=device
            )
        )
    return found


def augmentation(context):
    """Keras' random image layers: they run, and no two calls give the same."""
    np, layers = context.np, context.keras.layers
    images = context.generator("augmentation").random(IMAGES, dtype="float32")
    made = {
        "flip": lambda seed: layers.RandomFlip("horizontal", seed=seed),
        "rotation": lambda seed: layers.RandomRotation(0.2, seed=seed),
        "zoom": lambda seed: layers.RandomZoom(0.4, seed=seed),
        "translation": lambda seed: layers.RandomTranslation(0.3, 0.3, seed=seed),
        "contrast": lambda seed: layers.RandomContrast(0.5, seed=seed),
    }
    found = []
    for name, make in made.items():
        title = f"Random{name.capitalize()}"
        calls, problem, device = _calls(context, title, make(_seed(context, name)), images)
        found.append(_varies(f"S3.{name}", title, problem, device, len(images)))
        if name == "flip" and calls:
            mirrored = [np.array_equal(a, b[:, ::-1]) for call in calls for a, b in zip(call, images)]
            kept = [np.array_equal(a, b) for call in calls for a, b in zip(call, images)]
            found.append(_flips(sum(mirrored), sum(kept), len(kept), device))
    return found


def pipeline(context):
    """Random ``tf.image`` operations in a ``tf.data`` pipeline: two epochs differ."""
    tf, np = context.tf, context.np
    context.step("tf.image augmentation in a pipeline")
    began = time.perf_counter()
    images = context.generator("pipeline").random(IMAGES, dtype="float32")

    def vary(image):
        image = tf.image.random_flip_left_right(image)
        image = tf.image.random_brightness(image, 0.3)
        image = tf.image.random_contrast(image, 0.5, 1.5)
        return tf.image.random_crop(image, (6, 6, 1))

    problem = ""
    try:
        data = tf.data.Dataset.from_tensor_slices(images).shuffle(len(images)).map(vary).batch(len(images))
        first, second = (next(iter(data)).numpy() for _ in range(2))
        problem = _sameness(np, [first, second], None)
    except Exception as error:
        problem = raised(error)
    return [
        _varies(
            "S3.pipeline",
            "random tf.image operations in tf.data",
            problem,
            "CPU:0",
            len(images),
            time.perf_counter() - began,
        )
    ]


def _calls(context, title, layer, inputs):
    """Two eager and two traced calls in training, what is wrong with them, and their device."""
    tf, np = context.tf, context.np
    x = tf.constant(inputs)
    calls, device = [], ""
    try:
        context.step(f"{title}, eager")
        calls = [layer(x, training=True) for _ in range(2)]
        device = placed_on(calls[0])
        problem = _sameness(np, calls, inputs)
        if not problem and not np.array_equal(layer(x, training=False), inputs):
            problem = "changes its input at inference"
        context.step(f"{title}, traced")
        traced = tf.function(lambda x: layer(x, training=True), autograph=False)
        later = [traced(x) for _ in range(2)]
        problem = problem or _sameness(np, later, inputs, "traced: ")
        calls += later
    except Exception as error:
        problem = raised(error)
    return [np.asarray(call) for call in calls], problem, device


def _sameness(np, calls, inputs, way=""):
    first, second = (np.asarray(call) for call in calls)
    if not np.isfinite(first).all():
        return way + "gives values that are no numbers"
    if np.array_equal(first, second):
        return way + "two calls give the same"
    if inputs is not None and np.array_equal(first, inputs):
        return way + "does nothing in training"
    return ""


def _varies(check, title, problem, device, n, seconds=0.0):
    why = "random masks, shifts and noise of so many elements do not repeat by chance"
    return equal(check, title, problem or VARIES, VARIES, why=why, n=n, device=device, seconds=seconds)


def _flips(mirrored, kept, n, device):
    """How many of ``n`` images were mirrored, in standard errors; every other one must be as it was."""
    error = abs(mirrored - n / 2) / math.sqrt(n / 4) if mirrored + kept == n else math.inf
    title = "share of images that RandomFlip mirrors exactly, in standard errors from 0.5"
    return between("S3.flip.rate", title, error, 0.0, LIMIT, n=n, why=WHY, device=device)


def _seed(context, name):
    return int(context.generator("layers." + name).integers(2**30))
