"""S3: random numbers, and what lives on them: dropout, augmentation, initial weights.

Reported of Metal plugins, and the check that finds it:

- uniform draws that repeat, scalar draws that are constant: S3.uniform, S3.uniform.law, S3.scalar
- set_seed that does not repeat the numbers: every check of a source
- integer draws that raise: S3.stateless-int, S3.generator-int
- generators and Keras' augmentation without a kernel: S3.generator-*, S3.flip, S3.rotation, S3.zoom
- dropout and noise that suffer from all these: S3.dropout, S3.noise
- random tf.image operations in a pipeline that abort: S3.pipeline

Not probed: Generator.binomial. TensorFlow has no kernel of it for any GPU, so it fails on healthy ones too.
"""

from __future__ import annotations

from . import random_sources
from .initial import every_initializer, initial_weights
from .random_layers import augmentation, dropout, noise, pipeline
from .tasks import Sequences


def run(context):
    """Two draws each and initial weights in quick; everything in full."""
    network = context.shared("sequences", Sequences)
    network.reset()
    weights = initial_weights(context, "S3.sequences", "the Conv1D classifier", network.model)
    if context.level == "quick":
        return random_sources.basic(context) + weights
    return [
        *random_sources.every(context),
        *dropout(context),
        *noise(context),
        *augmentation(context),
        *pipeline(context),
        *weights,
        *every_initializer(context),
    ]
