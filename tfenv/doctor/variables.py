"""Environment variables that change what TensorFlow and Keras do."""

from __future__ import annotations

from tfenv.doctor.answers import variable
from tfenv.doctor.context import Context
from tfenv.doctor.model import Check
from tfenv.doctor.stack import within
from tfenv.result import Finding, Remedy

#: What each Keras backend needs.
_BACKENDS = {"jax": "jax", "torch": "torch", "openvino": "openvino"}
_YES = ("1", "true", "yes")


def _keras_backend(context: Context) -> tuple[Finding, ...]:
    value = (context.variable("KERAS_BACKEND") or "").lower()
    keras = context.stack.version("keras")
    if not value or value == "tensorflow" or not within(keras, ">=3"):
        return ()
    needs = _BACKENDS.get(value)
    missing = needs is None or needs not in context.stack.installed
    return (
        Finding(
            id="TFW006",
            severity="fail" if missing else "warn",
            title=f"KERAS_BACKEND is {value}, so Keras does not compute with TensorFlow"
            + (" and cannot be imported" if missing else ""),
            cause=f"Keras {keras} takes its backend from this variable"
            + (f", and {needs or 'no package of that name'} is not installed." if missing else "."),
            evidence=(variable("KERAS_BACKEND", value),),
            remedy=Remedy(
                text="Take the variable away; TensorFlow is the default.",
                commands=(context.commands.unset("KERAS_BACKEND"),),
            ),
        ),
    )


def _legacy_keras(context: Context) -> tuple[Finding, ...]:
    value = (context.variable("TF_USE_LEGACY_KERAS") or "").lower()
    tensorflow = context.stack.tensorflow
    if value not in _YES or tensorflow is None or "tf-keras" in context.stack.installed:
        return ()
    if not within(tensorflow.version, ">=2.16.dev0"):
        return ()  # there tf.keras is Keras 2 anyway
    return (
        Finding(
            id="ENV001",
            severity="fail",
            title="TF_USE_LEGACY_KERAS is set, but the package tf-keras is not installed",
            cause="The variable makes tf.keras the old Keras 2, which is a package of its own since "
            "TensorFlow "
            "2.16: 'Keras cannot be imported'.",
            evidence=(variable("TF_USE_LEGACY_KERAS", value),),
            remedy=Remedy(
                text="Take the variable away, or install tf-keras of the same minor.",
                commands=(
                    context.commands.unset("TF_USE_LEGACY_KERAS"),
                    context.commands.install(f"tf-keras~={context.stack.minor}.0"),
                ),
            ),
        ),
    )


def _log_level(context: Context) -> tuple[Finding, ...]:
    value = context.variable("TF_CPP_MIN_LOG_LEVEL") or ""
    if value not in ("2", "3", "4") or context.stack.tensorflow is None:
        return ()
    hidden = "warnings" if value == "2" else "warnings and errors"
    return (
        Finding(
            id="ENV002",
            severity="info",
            title=f"TF_CPP_MIN_LOG_LEVEL={value} hides TensorFlow's {hidden}",
            cause="Among them is the line that tells why a GPU is not used ('Cannot dlopen some GPU "
            "libraries').",
            evidence=(variable("TF_CPP_MIN_LOG_LEVEL", value),),
            remedy=Remedy(
                text="While you look for a fault, take it away.",
                commands=(context.commands.unset("TF_CPP_MIN_LOG_LEVEL"),),
            ),
        ),
    )


def _slow_protobuf(context: Context) -> tuple[Finding, ...]:
    name = "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"
    value = context.variable(name) or ""
    if value != "python" or context.stack.tensorflow is None:
        return ()
    return (
        Finding(
            id="ENV003",
            severity="info",
            title=f"{name}=python makes reading and saving models much slower",
            cause="It was a way around 'Descriptors cannot be created directly'; versions that fit need no "
            "way "
            "around.",
            evidence=(variable(name, value),),
            remedy=Remedy(text="Take it away.", commands=(context.commands.unset(name),)),
        ),
    )


CHECKS = (
    Check(id="TFW006", rung="environment", summary="Keras computes with TensorFlow", run=_keras_backend),
    Check(
        id="ENV001",
        rung="environment",
        summary="The legacy Keras that is asked for is there",
        run=_legacy_keras,
    ),
    Check(id="ENV002", rung="environment", summary="TensorFlow's errors are shown", run=_log_level),
    Check(id="ENV003", rung="environment", summary="protobuf uses its compiled code", run=_slow_protobuf),
)
