"""Right eagerly and wrong in a traced graph, as when an optimizer of graphs fuses operations wrongly."""

from ..catalogue import kind
from ..patch import around_method, first_output, kernel


@kind("fused-relu-dropped", "relu(bias_add(matmul)) loses its relu in traced graphs (Apple's Metal plugin).")
def fused_relu_dropped(tf, hit):
    kernel(tf, hit, "Relu", _after_bias(tf, ("MatMul",)), where="graph")


@kind("fused-conv-relu-dropped", "relu(bias_add(conv)) loses its relu in traced graphs.")
def fused_conv_relu_dropped(tf, hit):
    kernel(tf, hit, "Relu", _after_bias(tf, ("Conv2D",)), where="graph")


@kind("traced-relu-dropped", "Every relu is dropped in traced graphs.")
def traced_relu_dropped(tf, hit):
    kernel(tf, hit, "Relu", lambda call: [tf.identity(call.inputs["features"])], where="graph")


@kind("traced-relu6-is-relu", "relu6 does not stop at six in traced graphs.")
def traced_relu6(tf, hit):
    kernel(tf, hit, "Relu6", lambda call: [tf.nn.relu(call.inputs["features"])], where="graph")


@kind("traced-bias-dropped", "A bias is not added in traced graphs.")
def traced_bias_dropped(tf, hit):
    kernel(tf, hit, "BiasAdd", lambda call: [tf.identity(call.inputs["value"])], where="graph")


@kind("traced-matmul-scaled", "A matrix product is two percent too large in traced graphs.")
def traced_matmul_scaled(tf, hit):
    kernel(tf, hit, ("MatMul",), first_output(lambda out: out * 1.02), where="graph")


@kind("predict-differs", "predict gives other values than calling the model.")
def predict_differs(tf, hit):
    def predict_step(right, self, *args, **kwargs):
        hit()
        return tf.nest.map_structure(lambda out: out * 0.9, right(self, *args, **kwargs))

    around_method(tf.keras.Model, "predict_step", predict_step)


@kind("traced-batch-norm-relu", "relu after batch normalisation is dropped in traced graphs.")
def traced_batch_norm_relu(tf, hit):
    kernel(
        tf,
        hit,
        "Relu",
        lambda call: [tf.identity(call.inputs["features"])] if _from(call, "FusedBatchNorm") else None,
        where="graph",
    )


def _after_bias(tf, products):
    def wrong(call):
        before = getattr(call.inputs["features"], "op", None)
        if before is None or before.type != "BiasAdd" or before.inputs[0].op.type not in products:
            return None
        return [tf.identity(call.inputs["features"])]

    return wrong


def _from(call, op_type):
    before = getattr(call.inputs["features"], "op", None)
    return before is not None and before.type.startswith(op_type)
