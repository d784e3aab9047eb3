"""S4: gradients, and what optimizers make of them.

Reported of Metal plugins, and the check that finds it:

- Adam, SGD or Adamax that do not learn, optimizers without a kernel: S4.adam, S4.momentum, S4.adamax, …
- LSTM and GRU that learn worse: S4.lstm, S4.gru
- separable convolutions, batch normalisation: S4.separable, S4.batch-norm
- attention that gives noise: S4.attention
- embeddings, whose indices repeat: S4.embedding

Not probed: ApplyMomentum on reference variables (TensorFlow 1 graphs), which no Keras of the supported range
makes; slowness (Keras optimizers, SimpleRNN), which is no fault of values.
"""

from __future__ import annotations

from . import s4_layers, s4_optimizers


def run(context):
    """Two optimizers in quick; everything in full."""
    if context.level == "quick":
        return s4_optimizers.basic(context)
    return s4_layers.every(context) + s4_optimizers.every(context)
