"""Ways to patch TensorFlow: an operation by its type, a method, the gradients of a tape, an optimizer's step.

An operation of TensorFlow reaches its kernel in one of three ways, each through an attribute of a Python
module: eagerly by ``pywrap_tfe.TFE_Py_FastPathExecute``, eagerly by ``execute.execute`` where that one gives
up, and in a traced graph by ``op_def_library._apply_op_helper``. Patching these three changes what every
caller of the operation gets (Keras, ``tf.nn``, gradients, functions of a data pipeline), on any version. The
tape takes what they got for what the operation gave, so the gradient stays that of the right operation.
"""

import functools
import inspect
import threading

_wrong_kernels = {}
_busy = threading.local()


class Call:
    """One call of an operation: what went in and what the right kernel gave."""

    def __init__(self, tf, op_type, inputs, attrs, outputs, graph):
        self.op_type = op_type
        self.inputs = inputs  # by name
        self.attrs = attrs  # by name, those that are not inferred
        self.outputs = outputs
        self.graph = graph  # whether it is being traced
        self._tf = tf

    def again(self, **inputs):
        """The outputs of the right kernel for other inputs."""
        function = getattr(self._tf.raw_ops, self.op_type)
        known = inspect.signature(function).parameters
        arguments = {**self.inputs, **self.attrs, **inputs}
        # The one input of these operations that Python calls otherwise.
        arguments["axis"] = arguments.get("axis", arguments.get("reduction_indices"))
        result = function(**{name: value for name, value in arguments.items() if name in known})
        return list(result) if isinstance(result, (tuple, list)) else [result]


def kernel(tf, hit, op_types, wrong, *, where="both"):
    """Replace what operations of these types give by ``wrong(call)``: new outputs, or None to leave them.

    ``where``: "both", or "graph" for traced graphs only. The gradient of the operation stays what it was.
    """
    if not _wrong_kernels:
        _install(tf)
    for op_type in [op_types] if isinstance(op_types, str) else op_types:
        _wrong_kernels[op_type] = (wrong, hit, where)


def first_output(change):
    """For :func:`kernel`: ``change(tensor)`` on a floating first output, the others as they are."""

    def wrong(call):
        if not call.outputs[0].dtype.is_floating:
            return None
        return [change(call.outputs[0]), *call.outputs[1:]]

    return wrong


def around(owner, name, replacement):
    """Replace the function ``name`` of ``owner`` by ``replacement(right, *args, **kwargs)``."""
    right = getattr(owner, name)

    @functools.wraps(right)
    def patched(*args, **kwargs):
        return replacement(right, *args, **kwargs)

    setattr(owner, name, patched)


def around_method(cls, name, replacement):
    """The same in the class, ``cls`` or one above it, from which ``cls`` has its ``name``."""
    around(next(owner for owner in cls.__mro__ if name in vars(owner)), name, replacement)


def tape_gradients(tf, hit, change):
    """Let ``change(gradients, sources)``, both lists, replace what a tape's ``gradient`` gives for a list."""

    def gradient(right, self, target, sources, *args, **kwargs):
        gradients = right(self, target, sources, *args, **kwargs)
        flat_sources, flat = tf.nest.flatten(sources), tf.nest.flatten(gradients)
        dense = [tf.convert_to_tensor(each) if each is not None else None for each in flat]
        if all(each is None or not each.dtype.is_floating for each in dense):
            return gradients
        changed = change(dense, flat_sources)
        if any(new is not old for new, old in zip(changed, dense)):
            hit()
        return tf.nest.pack_sequence_as(gradients, changed)

    around(tf.GradientTape, "gradient", gradient)


def optimizer_step(optimizer_class, replacement):
    """Replace ``update_step`` by ``replacement(step, optimizer, gradient, variable, rate)``.

    ``step(gradient, rate)`` is the right one, with another learning rate if one is given. Keras 3 hands the
    rate over, Keras 2 looks it up.
    """

    def update_step(right, self, gradient, variable, *rate):
        def step(gradient, another=None):
            if another is None:
                return right(self, gradient, variable, *rate)
            if rate:
                return right(self, gradient, variable, another)
            kept, self._learning_rate = self._learning_rate, another
            try:
                return right(self, gradient, variable)
            finally:
                self._learning_rate = kept

        return replacement(step, self, gradient, variable, rate[0] if rate else self.learning_rate)

    around(optimizer_class, "update_step", update_step)


def slot(optimizer, name, variable):
    """The variable that ``optimizer`` keeps for ``variable`` in its list ``name``."""
    if hasattr(optimizer, "_get_variable_index"):
        return getattr(optimizer, name)[optimizer._get_variable_index(variable)]
    return getattr(optimizer, name)[optimizer._index_dict[optimizer._var_key(variable)]]


def size_of(tf, tensor, axis):
    """The size of an axis: a number where the graph knows it, which leaves less for its optimizers to do."""
    known = tensor.shape[axis]
    return tf.shape(tensor)[axis] if known is None else known


def all_but_last(tf, tensor, axis, factor=0.0):
    """What multiplied with ``tensor`` scales the last element of ``axis``, a negative number."""
    size = size_of(tf, tensor, axis)
    mask = tf.one_hot(size - 1, size, on_value=factor, off_value=1.0, dtype=tensor.dtype)
    return tf.reshape(mask, [-1] + [1] * (-1 - axis))


def _install(tf):
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import core, execute, record
    from tensorflow.python.framework import op_def_library, op_def_registry

    def names_of(op_type):
        return [argument.name for argument in op_def_registry.get(op_type).input_arg]

    def is_wrong(op_type, graph):
        known = op_type in _wrong_kernels and not getattr(_busy, "on", False)
        return known and (graph or _wrong_kernels[op_type][2] == "both")

    def outputs_of(op_type, inputs, attrs, raw, graph):
        """What takes the place of the outputs ``raw``."""
        wrong, hit, _ = _wrong_kernels[op_type]
        _busy.on = True
        try:
            with record.stop_recording():
                changed = wrong(Call(tf, op_type, inputs, attrs, list(raw), graph)) if raw else None
                if changed is not None:  # the tape must not see an input again as an output
                    changed = [tf.identity(each) for each in changed]
        finally:
            _busy.on = False
        if changed is None:
            return raw
        hit()
        return changed

    def fast_path(right, context, op_type, *args):
        if is_wrong(op_type, False):
            # Its callers then go through ``execute``, and tell the tape the outputs they got from there.
            raise core._FallbackException
        return right(context, op_type, *args)

    def slow_path(right, op_name, num_outputs, inputs, attrs, *args, **kwargs):
        result = right(op_name, num_outputs, inputs, attrs, *args, **kwargs)
        op_type = op_name.decode() if isinstance(op_name, bytes) else op_name
        if not is_wrong(op_type, False):
            return result
        flat = attrs or ()
        known = dict(zip(names_of(op_type), inputs))
        return outputs_of(op_type, known, dict(zip(flat[::2], flat[1::2])), result, False)

    def traced(right, op_type, name=None, **keywords):
        *rest, op, outputs = right(op_type, name, **keywords)
        if is_wrong(op_type, True):
            names = names_of(op_type)
            attrs = {key: value for key, value in keywords.items() if key not in names}
            inputs = {key: value for key, value in keywords.items() if key in names}
            if len(op.inputs) == len(names):
                inputs = dict(zip(names, op.inputs))
            outputs = outputs_of(op_type, inputs, attrs, outputs, True)
        return (*rest, op, outputs)

    around(pywrap_tfe, "TFE_Py_FastPathExecute", fast_path)
    around(execute, "execute", slow_path)
    around(op_def_library, "_apply_op_helper", traced)
