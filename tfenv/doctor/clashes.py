"""Versions of two packages that are known not to work together. A source per row."""

from __future__ import annotations

from typing import Literal

from tfenv.records import record


@record
class Clash:
    """Versions of a package that do not work with a range of TensorFlow."""

    id: str
    package: str
    versions: str  # of the package; "" = all
    tensorflow: str  # specifier
    severity: Literal["fail", "warn"]
    title: str  # what happens; {version} and {tensorflow} are filled in
    cause: str
    fix: str  # a requirement; "" = remove the package
    advice: str
    source: str
    beside: tuple[str, str] = ("", "")  # only when this package is there in these versions
    system: str = ""  # only on this operating system
    cuda: bool = False  # only where TensorFlow uses an NVIDIA GPU


_PROTOBUF = "Generated code needs a protobuf runtime of its own major version, as new or newer "
"(protobuf.dev, cross-version runtime guarantee)"
_METAL = "undefined symbols of the plugin against the exports of TensorFlow's libraries, CPython 3.11 wheels"

CLASHES: tuple[Clash, ...] = (
    Clash(
        id="PKG009",
        package="numpy",
        versions=">=2",
        tensorflow="<2.18",
        severity="fail",
        title="NumPy {version} cannot be used by TensorFlow {tensorflow}: the import fails",
        cause="TensorFlow before 2.18 is compiled for NumPy 1; with NumPy 2 it ends in '_ARRAY_API not "
        "found'.",
        fix="numpy<2",
        advice="Go back to NumPy 1.26.",
        source="metadata of TensorFlow 2.15 to 2.17 (numpy<2) and an import of 2.17.1 with NumPy 2.1.3",
    ),
    Clash(
        id="PKG008",
        package="protobuf",
        versions="<3.20.3",
        tensorflow=">=2.12",
        severity="fail",
        title="protobuf {version} is too old for TensorFlow {tensorflow}: the import fails",
        cause="TensorFlow imports google.protobuf.internal.builder, which came with protobuf 3.20.",
        fix="protobuf>=3.20.3,<5",
        advice="Update protobuf.",
        source="metadata of TensorFlow 2.12 to 2.19 and an import of 2.17.1 with protobuf 3.19.6",
    ),
    Clash(
        id="PKG008",
        package="protobuf",
        versions=">=5",
        tensorflow=">=2.12,<2.18",
        severity="warn",
        title="protobuf {version} is newer than TensorFlow {tensorflow} allows",
        cause="Import and training work, with lines \"'MessageFactory' object has no attribute "
        "'GetPrototype'\"; "
        "TensorFlow's own bounds are below 5.",
        fix="protobuf>=3.20.3,<5",
        advice="Go back to protobuf 4.",
        source="metadata of TensorFlow 2.12 to 2.17 and imports of 2.17.1 with protobuf 6 and 7",
    ),
    Clash(
        id="PKG008",
        package="protobuf",
        versions=">=6",
        tensorflow=">=2.18,<2.20",
        severity="warn",
        title="protobuf {version} is newer than TensorFlow {tensorflow} allows",
        cause="Import and training work, with lines \"'MessageFactory' object has no attribute "
        "'GetPrototype'\"; "
        "TensorFlow's own bounds are below 6.",
        fix="protobuf>=5.28,<6",
        advice="Go back to protobuf 5.",
        source="metadata of TensorFlow 2.18 and 2.19 and imports of 2.18.1 with protobuf 6 and 7",
    ),
    Clash(
        id="PKG008",
        package="protobuf",
        versions="<5.28",
        tensorflow=">=2.20,<2.21",
        severity="fail",
        title="protobuf {version} is too old for TensorFlow {tensorflow}: the import fails",
        cause=f"{_PROTOBUF}, and TensorFlow 2.20 was generated with 5.28.",
        fix="protobuf>=5.28,<6",
        advice="Update protobuf.",
        source="metadata of TensorFlow 2.20 (protobuf>=5.28.0)",
    ),
    Clash(
        id="PKG008",
        package="protobuf",
        versions="<6.31.1",
        tensorflow=">=2.21,<2.22",
        severity="fail",
        title="protobuf {version} is too old for TensorFlow {tensorflow}: the import fails",
        cause=f"{_PROTOBUF}, and TensorFlow 2.21 was generated with 6.31.1.",
        fix="protobuf>=6.31.1,<8",
        advice="Update protobuf.",
        source="metadata of TensorFlow 2.21 and an import with protobuf 5.29.5 (VersionError)",
    ),
    Clash(
        id="PKG012",
        package="keras",
        versions="<3",
        tensorflow=">=2.16",
        severity="fail",
        title="Keras {version} cannot be used by TensorFlow {tensorflow}: tf.keras fails",
        cause="From 2.16 on tf.keras is Keras 3; Keras 2 asks for functions that TensorFlow no longer has "
        "('register_load_context_function').",
        fix="keras>=3",
        advice="Install Keras 3. Code that needs Keras 2 uses the package tf-keras of the same minor.",
        source="metadata of TensorFlow 2.16 and an import of 2.18.1 with Keras 2.15.0",
    ),
    Clash(
        id="PKG012",
        package="keras",
        versions=">=3",
        tensorflow="<2.16",
        severity="warn",
        title="Keras {version} is not the Keras of TensorFlow {tensorflow}",
        cause="TensorFlow before 2.16 wants the Keras of its own minor; with Keras 3 `import keras` and "
        "`tf.keras` are not the same library.",
        fix="keras<3",
        advice="Go back to the Keras of this TensorFlow.",
        source="metadata of TensorFlow 2.15 (keras>=2.15.0,<2.16)",
    ),
    Clash(
        id="PKG012",
        package="ml-dtypes",
        versions="<0.4",
        tensorflow=">=2.18",
        beside=("numpy", ">=2"),
        severity="fail",
        title="ml-dtypes {version} is too old for TensorFlow {tensorflow} with NumPy 2: the import fails",
        cause="ml-dtypes before 0.4 is compiled for NumPy 1 ('numpy.core.umath failed to import').",
        fix="ml-dtypes>=0.5.1,<1",
        advice="Update ml-dtypes.",
        source="metadata of TensorFlow 2.18 and an import of 2.18.1 with ml-dtypes 0.3.2 and NumPy 2.0.2",
    ),
    Clash(
        id="PKG012",
        package="setuptools",
        versions=">=82",
        tensorflow="<2.21",
        beside=("tensorboard", "<2.21"),
        severity="warn",
        title="TensorBoard does not start with setuptools {version}",
        cause="TensorBoard up to 2.20 imports pkg_resources, which setuptools 82 removed. Training is not "
        "affected.",
        fix="setuptools<82",
        advice="Go back to setuptools 81.",
        source="the wheels of TensorBoard 2.15 to 2.20, and runs of its command with setuptools 84",
    ),
    Clash(
        id="PKG007",
        package="tensorflow-addons",
        versions="",
        tensorflow=">=2.16",
        severity="warn",
        title="TensorFlow Addons cannot be imported with TensorFlow {tensorflow}",
        cause="TensorFlow Addons ended in May 2024 and uses the inside of Keras 2 (keras.src.engine).",
        fix="",
        advice="Remove it, or use TensorFlow 2.15.",
        source="the wheels of tensorflow-addons 0.23",
    ),
    Clash(
        id="PKG012",
        package="tensorflow",
        versions="==2.16.1",
        tensorflow="==2.16.1",
        beside=("nvidia-cudnn-cu12", ">=0"),
        cuda=True,
        severity="fail",
        title="TensorFlow 2.16.1 does not find its own CUDA wheels, so it does not use the GPU",
        cause="The library's search path (RUNPATH) lacks cuBLAS, cuDNN, cuFFT, cuSOLVER and cuSPARSE: "
        "'Cannot dlopen some GPU libraries'. No other release has this fault.",
        fix="tensorflow==2.16.2",
        advice="Update to 2.16.2.",
        source="the dynamic section of libtensorflow_framework.so.2 in the wheels 2.14 to 2.21",
    ),
    Clash(
        id="PKG012",
        package="nvidia-cudnn-cu12",
        versions="<9.24",
        tensorflow=">=2.21,<2.22",
        cuda=True,
        severity="warn",
        title="Convolutions may fail to train with TensorFlow {tensorflow} and cuDNN {version}",
        cause="Reported for T4, A10G and L4: the autotuner of TensorFlow 2.21 fails with cuDNN 9.5.1 and "
        "works "
        "with 9.24.",
        fix="nvidia-cudnn-cu12>=9.24,<10",
        advice="Update cuDNN, or use TensorFlow 2.20.",
        source="github.com/aws/deep-learning-containers/pull/6417",
    ),
    Clash(
        id="MAC010",
        package="pyarrow",
        versions="",
        tensorflow=">=2.20",
        system="macos",
        severity="warn",
        title="TensorFlow {tensorflow} beside pyarrow can hang or abort on macOS",
        cause="Both bring their own copy of a locking library; reported as 'mutex lock failed' or a hang at "
        "import.",
        fix="",
        advice="If the import hangs: use TensorFlow 2.19, or import tensorflow before pyarrow.",
        source="reports in TensorFlow's issue tracker",
    ),
)

#: tensorflow-metal against TensorFlow; the first row that holds for both versions counts.
METAL_CLASHES: tuple[Clash, ...] = (
    Clash(
        id="MAC005",
        package="tensorflow-metal",
        versions="",
        tensorflow=">=2.20",
        severity="fail",
        title="tensorflow-metal does not load with TensorFlow {tensorflow}: the import fails",
        cause="The plugin needs a library (_pywrap_tensorflow_internal.so) that TensorFlow 2.20 no longer "
        "has.",
        fix="",
        advice="Remove the plugin and train on the CPU, or use TensorFlow 2.19.1 with tensorflow-metal "
        "1.2.0.",
        source=_METAL,
    ),
    Clash(
        id="MAC005",
        package="tensorflow-metal",
        versions="<1.2",
        tensorflow=">=2.18",
        severity="fail",
        title="tensorflow-metal {version} does not load with TensorFlow {tensorflow}: the import fails",
        cause="It looks for a function (tsl::internal::LogMessage) that TensorFlow 2.18 changed.",
        fix="tensorflow-metal==1.2.0",
        advice="Update the plugin.",
        source=_METAL,
    ),
    Clash(
        id="MAC005",
        package="tensorflow-metal",
        versions="<0.8",
        tensorflow=">=2.13",
        severity="fail",
        title="tensorflow-metal {version} does not load with TensorFlow {tensorflow}: the import fails",
        cause="It was built for TensorFlow 2.9 and looks for functions that are gone.",
        fix="",
        advice="Remove the plugin and train on the CPU, or use TensorFlow 2.19.1 with tensorflow-metal "
        "1.2.0.",
        source=_METAL,
    ),
    Clash(
        id="MAC005",
        package="tensorflow-metal",
        versions="",
        tensorflow=">=2.16,<2.18",
        severity="warn",
        title="tensorflow-metal {version} with TensorFlow {tensorflow} is reported to abort",
        cause="The plugin loads, but no release of it was built for this TensorFlow.",
        fix="",
        advice="Use TensorFlow 2.18.1 or 2.19.1 with tensorflow-metal 1.2.0, or remove the plugin.",
        source="reports in TensorFlow's issue tracker (64507, 83371)",
    ),
    Clash(
        id="MAC005",
        package="tensorflow-metal",
        versions="",
        tensorflow=">=2.18",
        beside=("keras", ">=3.7"),
        severity="warn",
        title="Dense layers with an activation may compute wrong values on the GPU",
        cause="From 3.7 on Keras traces them to MatMul, BiasAdd, activation, the pattern that the Metal "
        "plugin "
        "fuses wrongly. Keras 3.0 to 3.6 does not.",
        fix="keras==3.6.0",
        advice="Go back to Keras 3.6.0.",
        source="reports of wrong results on Apple GPUs, and graphs traced with Keras 3.6.0 and 3.15.1",
    ),
    Clash(
        id="MAC005",
        package="tensorflow-metal",
        versions="",
        tensorflow="<2.16",
        severity="warn",
        title="Dense layers with an activation may compute wrong values on the GPU",
        cause="Keras 2 traces them to MatMul, BiasAdd, activation, the pattern that the Metal plugin fuses "
        "wrongly.",
        fix="",
        advice="Use TensorFlow 2.18.1 or 2.19.1 with Keras 3.6.0, or let `tfenv smoke` decide on this "
        "machine.",
        source="reports of wrong results on Apple GPUs",
    ),
)
