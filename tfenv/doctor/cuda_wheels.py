"""The NVIDIA wheels and the settings that decide which CUDA libraries TensorFlow loads, and for which GPU."""

from __future__ import annotations

import re

from tfenv.doctor import tables
from tfenv.doctor.answers import installed, listed, seen, variable
from tfenv.doctor.context import Context
from tfenv.doctor.cuda import cuda_build, is_cpu_build, uses_gpu
from tfenv.doctor.model import Check
from tfenv.doctor.nvidia import cpu_by_choice, gpu_severity
from tfenv.doctor.stack import lower_bound, within
from tfenv.locks.model import Pin
from tfenv.result import Evidence, Finding, Remedy

_CUDNN = "nvidia-cudnn-cu12"


def _cudnn(context: Context) -> tuple[Finding, ...]:
    have = context.stack.version(_CUDNN)
    if not uses_gpu(context) or have is None or cuda_build(context) is None:
        return ()
    first, lowest, source = tables.CUDNN_DROPPED
    left = [
        gpu
        for gpu in context.facts.nvidia.gpus.value or ()
        if gpu.compute_capability and not tables.cudnn_serves(have, gpu.compute_capability)
    ]
    if not left:
        return ()
    return (
        Finding(
            id="CUD019",
            severity=gpu_severity(context),
            title=f"cuDNN {have} no longer serves {listed(dict.fromkeys(gpu.name for gpu in left))}",
            cause=f"cuDNN {first} dropped GPUs below compute capability {lowest}; convolutions fail there.",
            evidence=(
                installed(_CUDNN, have),
                *(
                    Evidence(
                        what=f"GPU {gpu.index}", value=f"{gpu.name}, {gpu.compute_capability}", source="NVML"
                    )
                    for gpu in left
                ),
                Evidence(what="known because of", value=source, source="tfenv"),
            ),
            remedy=Remedy(
                text=f"Go back to a cuDNN below {first}.",
                commands=(context.commands.install(f"{_CUDNN}<{first}"),),
            ),
        ),
    )


def _wheels(context: Context) -> tuple[Finding, ...]:
    """The NVIDIA wheels against what this TensorFlow was built with (its lock's demands)."""
    stack, build = context.stack, cuda_build(context)
    if not uses_gpu(context) or build is None or context.stock_notebook:
        return ()
    there = sorted(name for name in stack.installed if re.fullmatch(r"nvidia-.+-cu1[0-9]", name))
    if not there:
        return _no_wheels(context)
    demanded = demanded_wheels(context)
    missing = [pin for pin in demanded if pin.name not in stack.installed]
    wrong = [
        (pin, have)
        for pin in demanded
        for have in [stack.version(pin.name)]
        if have is not None and _too_old_or_foreign(have, pin.accepts or f"=={pin.version}")
    ]
    if not missing and not wrong:
        return ()
    names = [f"{pin.name} is missing" for pin in missing] + [f"{pin.name} {have}" for pin, have in wrong]
    return (
        Finding(
            id="CUD008",
            severity=gpu_severity(context),
            title=f"The CUDA wheels are not those of TensorFlow {stack.minor}: {listed(names)}",
            cause="cuDNN and the CUDA libraries must be of the generation TensorFlow was compiled with, at "
            "the same "
            "version or newer. Another package, often torch, brought its own.",
            evidence=(
                *(installed(pin.name, "not installed") for pin in missing),
                *(
                    installed(pin.name, f"{have}, needed: {pin.accepts or pin.version}")
                    for pin, have in wrong
                ),
            ),
            remedy=context.repair(
                "Install those that TensorFlow was built with.",
                *(f"{pin.name}=={pin.version}" for pin in (*missing, *(pin for pin, _ in wrong))),
            ),
        ),
    )


def demanded_wheels(context: Context) -> list[Pin]:
    """The NVIDIA pins of the CUDA lock of this very TensorFlow."""
    tensorflow = context.stack.tensorflow
    for lock in context.locks:
        if lock.cuda is not None and tensorflow is not None and lock.tensorflow == tensorflow.version:
            return [pin for pin in lock.pins if pin.name.startswith("nvidia-")]
    return []


def _too_old_or_foreign(have: str, accepts: str) -> bool:
    lowest = lower_bound(accepts)
    if lowest is None:
        return within(have, accepts) is False
    return within(have, f">={lowest},<{lowest.major + 1}") is False


def _no_wheels(context: Context) -> tuple[Finding, ...]:
    """Without wheels, TensorFlow takes CUDA from the system, if it has it."""
    folders = _cuda_folders(context)
    from_conda = any(name in context.stack.installed for name in ("cudatoolkit", "cudnn"))
    tensorflow = context.stack.tensorflow
    if folders or from_conda or context.variable("CUDA_VERSION") or tensorflow is None:
        return ()
    return (
        Finding(
            id="CUD008",
            severity="warn",
            title="There is a GPU, but no CUDA libraries came with TensorFlow: it will probably use the CPU",
            cause="Without its extra `and-cuda`, TensorFlow looks for CUDA and cuDNN on the system, and no "
            "sign of "
            "them is set ('Cannot dlopen some GPU libraries').",
            evidence=(
                installed(tensorflow.name, tensorflow.version),
                installed("nvidia-*-cu12", "none"),
                seen("driver", context.facts.nvidia.driver_nvml),
            ),
            remedy=Remedy(
                text="Let tfenv install the CUDA stack, or install the extra.",
                commands=(
                    context.commands.bootstrap(tensorflow=context.stack.minor),
                    context.commands.install(f"tensorflow[and-cuda]=={tensorflow.version}"),
                ),
            ),
        ),
    )


def _generations(context: Context) -> tuple[Finding, ...]:
    stack = context.stack
    if cuda_build(context) is None or context.stock_notebook:
        return ()
    libraries: dict[str, list[str]] = {}
    for name in sorted(stack.installed):
        match = re.fullmatch(r"(nvidia-.+)-cu(1[0-9])", name)
        if match:
            libraries.setdefault(match[1], []).append(name)
    mixed = [name for names in libraries.values() if len(names) > 1 for name in names]
    if not mixed:
        return ()
    surplus = [name for name in mixed if not name.endswith("-cu12")]
    return (
        Finding(
            id="CUD021",
            severity="warn",
            title=f"CUDA libraries of several generations share their folders: {listed(mixed)}",
            cause="The wheels of one library unpack into the same folder under nvidia/, whatever their "
            "generation: "
            "the last one installed won, and uninstalling one removes files of the other.",
            evidence=tuple(installed(name, stack.version(name) or "") for name in mixed),
            remedy=Remedy(
                text="Remove those of the other generation, then install TensorFlow's again.",
                commands=(
                    context.commands.uninstall(*surplus),
                    context.commands.reinstall(
                        *(f"{name}=={stack.version(name)}" for name in mixed if name not in surplus)
                    ),
                ),
            ),
        ),
    )


def _cpu_only(context: Context) -> tuple[Finding, ...]:
    tensorflow, target = context.stack.tensorflow, context.target
    if tensorflow is None or not is_cpu_build(context) or cpu_by_choice(context):
        return ()
    if target is None or target.name != "linux-x86_64-cuda":
        return ()
    return (
        Finding(
            id="TFW002",
            severity="info",
            title=f"{tensorflow.name} is built without CUDA, so the GPU is not used",
            evidence=(
                installed(tensorflow.name, tensorflow.version),
                seen("driver", context.facts.nvidia.driver_nvml),
            ),
            remedy=Remedy(
                text="If you want the GPU, take the CUDA stack.",
                commands=(context.commands.bootstrap(tensorflow=context.stack.minor, target=target.name),),
            ),
        ),
    )


def _hidden(context: Context) -> tuple[Finding, ...]:
    value = context.variable("CUDA_VISIBLE_DEVICES")
    gpus = context.facts.nvidia.gpus.value or ()
    if value is None or not gpus or not uses_gpu(context) or is_cpu_build(context):
        return ()
    first = value.split(",")[0].strip()
    beyond = first.isdigit() and int(first) >= len(gpus)
    if not (first in ("", "-1", "NoDevFiles") or beyond):
        return ()
    return (
        Finding(
            id="CUD012",
            severity="warn",
            title="CUDA_VISIBLE_DEVICES hides every GPU, so TensorFlow uses the CPU",
            cause=f"It names GPU {first} first, and this machine has {len(gpus)}, counted from 0."
            if beyond
            else "An empty value or -1 means: no GPU at all.",
            evidence=(
                variable("CUDA_VISIBLE_DEVICES", value or '""'),
                seen("GPUs", context.facts.nvidia.gpus),
            ),
            remedy=Remedy(
                text="Take it away, or name a GPU that is there.",
                commands=(context.commands.unset("CUDA_VISIBLE_DEVICES"),),
            ),
        ),
    )


def _library_path(context: Context) -> tuple[Finding, ...]:
    value = context.variable("LD_LIBRARY_PATH") or ""
    folders = _cuda_folders(context)
    if not folders or context.stock_notebook or cuda_build(context) is None or not uses_gpu(context):
        return ()
    if _CUDNN not in context.stack.installed:
        return ()  # then this path is where CUDA comes from
    rest = ":".join(folder for folder in value.split(":") if folder and folder not in folders)
    commands = context.commands
    return (
        Finding(
            id="CUD009",
            severity="warn",
            title="LD_LIBRARY_PATH puts other CUDA libraries in front of TensorFlow's own: "
            f"{listed(folders)}",
            cause="The loader looks there before the folders that TensorFlow's libraries name (RUNPATH), so "
            "a "
            "system CUDA or cuDNN of another version is loaded.",
            evidence=(variable("LD_LIBRARY_PATH", value),),
            remedy=Remedy(
                text="Take these folders out.",
                commands=(
                    commands.set("LD_LIBRARY_PATH", rest) if rest else commands.unset("LD_LIBRARY_PATH"),
                ),
            ),
        ),
    )


def _cuda_folders(context: Context) -> list[str]:
    """The CUDA folders in LD_LIBRARY_PATH, without those of the environment's own wheels."""
    own = context.facts.environment.site_packages.value or ()
    folders = []
    for folder in (context.variable("LD_LIBRARY_PATH") or "").split(":"):
        of_wheels = any(folder.startswith(f"{site}/nvidia/") for site in own)
        if re.search(r"cuda|cudnn", folder, re.IGNORECASE) and not of_wheels and "/compat" not in folder:
            folders.append(folder)
    return folders


CHECKS = (
    Check(
        id="CUD019",
        rung="device",
        tier="probe",
        summary="cuDNN serves every GPU",
        run=_cudnn,
        after=("CUD001", "CTR002", "CUD003", "CUD006"),
    ),
    Check(id="TFW002", rung="device", tier="probe", summary="TensorFlow is built for the GPU", run=_cpu_only),
    Check(id="CUD008", rung="device", tier="probe", summary="The CUDA wheels are TensorFlow's", run=_wheels),
    Check(id="CUD021", rung="device", summary="CUDA wheels are of one generation", run=_generations),
    Check(id="CUD009", rung="device", tier="probe", summary="No other CUDA comes first", run=_library_path),
    Check(id="CUD012", rung="device", tier="probe", summary="The GPUs are not hidden", run=_hidden),
)
