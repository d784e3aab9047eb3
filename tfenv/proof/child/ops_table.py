"""S1's rows, and which public report each answers.

Where public reports name an operation as wrong, absent or crashing on a device, this row covers it (numbers
are sections of the list of reports on tensorflow-metal, by what was reported):

========================================  =============================================================
report                                    check
========================================  =============================================================
sort, argsort wrong beyond 16 (2)         S1.sort, S1.argsort
top_k wrong beyond 15 (2)                 S1.top_k, S1.top_k_long
Conv1D with 65,537 filters (2)            S1.conv1d_many_filters
float16 constant wrong on the CPU (2)     S1.float16_constant
embedding: repeated indices (7)           S1.embedding, S1.scatter_add
gather_nd of a Variable (3)               S1.gather_nd_variable
zero rows, CropAndResize of 0 boxes (3)   S1.empty
RandomRotation/Zoom's projection (3)      S1.projective_transform
tf.image in a pipeline aborts (3)         S1.image_pipeline
jit_compile (3)                           S1.jit_compile, at ``long``
SeparableConv + BatchNorm (2)             S1.separable, S1.separable_batch_norm
BatchNorm NaN (2)                         S1.batch_norm, S1.batch_norm_inference
LSTM, GRU, CRNN (2)                       S1.lstm, S1.gru, S1.simple_rnn, S1.bidirectional
attention predicts noise (2)              S1.attention, S1.multi_head_attention
round half to even, floor (7)             S1.round
segment sums, scatter, boolean_mask (7)   S1.segment_sum, S1.scatter_nd, S1.boolean_mask
fused ReLU (1), predict vs call           S2
random numbers, dropout (2, 3)            S3
optimizers (2, 7), learning (2)           S3 to S6, S10
========================================  =============================================================

Not probed, because TensorFlow 2's API does not reach it from a program that says nothing of it: explicit
``/device:GPU:0`` in TF1 graphs, and ApplyMomentum on TF1's reference variables. Not probed, because no
operation is named and the whole run is the probe: aborts by ``IsAligned``, ``pointer being freed``,
``libprotobuf FATAL`` and MPS command buffer errors, which end the child and are told by what it said.
``Generator.binomial`` has no kernel on a GPU in any release, so its absence says nothing of the stack.
"""

from __future__ import annotations

from .ops_table_arrays import array_rows
from .ops_table_products import product_rows
from .ops_table_reals import real_rows
from .ops_table_reductions import reduction_rows


def all_rows():
    """Every row: first those that are exact on integers, then those on real numbers."""
    return [*product_rows(), *reduction_rows(), *array_rows(), *real_rows()]
