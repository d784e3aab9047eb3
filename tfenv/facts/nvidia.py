"""NVIDIA: what the bus, the kernel, the device nodes, the libraries and nvidia-smi say, each on its own.

A driver that hangs or crashes must not take tfenv with it: libraries and nodes are only touched in children
with a time limit, and only where there is any sign of NVIDIA.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Optional

from tfenv.facts import pci
from tfenv.facts.later import Later
from tfenv.facts.machine import Machine, Ran, exists, read_text, why
from tfenv.facts.model import Fact, GpuFacts, NvidiaFacts, known, unknown

#: Seconds for the child that asks NVML, and for nvidia-smi; both run at the same time. Without persistence
#: mode the driver is loaded anew, which can take a second or two per GPU.
CHILD_LIMIT = 4.0

_PROC = "/proc/driver/nvidia/version"
_WSL_NODE = "/dev/dxg"
_NODE = re.compile(r"nvidia(\d+|ctl|-uvm)$")
_NVML = "libnvidia-ml.so.1"
#: Where images keep the driver's libraries without telling the loader's cache: multiarch, Fedora, WSL, Colab,
#: Kaggle and Kubernetes.
_LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/lib/wsl/lib",
    "/usr/lib64-nvidia",
    "/usr/local/nvidia/lib64",
)
_DRIVER_NOT_LOADED = 9  # NVML_ERROR_DRIVER_NOT_LOADED


def nvidia_facts(machine: Machine) -> NvidiaFacts:
    """The facts about NVIDIA hardware, driver and devices."""
    if machine.platform not in ("linux", "win32"):
        return _nothing("no NVIDIA driver exists for this system", machine)
    devices = pci.display_controllers(machine, pci.NVIDIA)
    nodes = device_nodes(machine)
    driver_proc = proc_version(machine)
    smi = _find_smi(machine)
    signs = (devices.value, nodes.value, driver_proc.value, smi, library_present(machine))
    if not any(signs):
        return _nothing("no sign of an NVIDIA device or driver", machine)
    child = Later(lambda: _ask(machine, nodes.value or ()))
    smi_state = smi_answers(machine, smi)
    stages, ran = child.result()
    return NvidiaFacts(
        pci_devices=devices,
        driver_nvml=_text_of(stages, ran, "driver"),
        cuda_version_nvml=_text_of(stages, ran, "cuda"),
        gpus=_gpus(stages, ran),
        driver_proc=driver_proc,
        device_nodes=nodes,
        devices_usable=_usable(stages, ran),
        nvidia_smi=smi_state,
        libcuda=_libcuda(stages, ran),
    )


def _nothing(source: str, machine: Machine) -> NvidiaFacts:
    absent: Fact[str] = known(None, source)
    return NvidiaFacts(
        pci_devices=pci.display_controllers(machine, pci.NVIDIA),
        driver_nvml=absent,
        cuda_version_nvml=absent,
        gpus=known((), source),
        driver_proc=absent,
        device_nodes=known((), source),
        devices_usable=known(None, source),
        nvidia_smi=known("missing", source),
        libcuda=absent,
    )


def device_nodes(machine: Machine) -> Fact[tuple[str, ...]]:
    """/dev/nvidia0…, /dev/nvidiactl, /dev/nvidia-uvm; under WSL /dev/dxg, which serves every GPU maker."""
    if machine.platform != "linux":
        return known((), "not Linux")
    try:
        names = [item.name for item in machine.path("/dev").iterdir()]
    except OSError as error:
        return unknown("/dev", why(error))
    found = {f"/dev/{name}" for name in names if _NODE.match(name)}
    return known(tuple(sorted(found | ({_WSL_NODE} if "dxg" in names else set()))), "/dev")


def proc_version(machine: Machine) -> Fact[str]:
    """The version of the loaded kernel driver; WSL has a driver but no such file."""
    if machine.platform != "linux":
        return known(None, "not Linux")
    try:
        text = read_text(machine, _PROC)
    except FileNotFoundError:
        return known(None, _PROC)
    except OSError as error:
        return unknown(_PROC, why(error))
    # "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar …", or "… Open Kernel Module for …".
    match = re.search(r"\s(\d{2,}\.\d+(?:\.\d+)?)\s", text.split("\n")[0] + " ")
    return known(match[1], _PROC) if match else unknown(_PROC, "no version in its first line")


def library_present(machine: Machine) -> bool:
    """Whether the loader could find NVML, decided without loading it."""
    if machine.platform == "win32":
        root = machine.environ.get("SystemRoot", "C:\\Windows")
        return exists(machine.path(f"{root}\\System32\\nvml.dll"))
    listed = machine.environ.get("LD_LIBRARY_PATH", "").split(":")
    if any(exists(machine.path(f"{folder}/{_NVML}")) for folder in (*listed, *_LIBRARY_FOLDERS) if folder):
        return True
    try:
        return _NVML.encode() in machine.path("/etc/ld.so.cache").read_bytes()
    except OSError:
        return False  # musl has no cache


def _find_smi(machine: Machine) -> Optional[str]:
    found = machine.which("nvidia-smi")
    # The WSL folder is not on the PATH of services.
    beside = "/usr/lib/wsl/lib/nvidia-smi"
    return found or (beside if machine.platform == "linux" and exists(machine.path(beside)) else None)


def smi_answers(machine: Machine, command: Optional[str]) -> Fact[str]:
    """ "ok", "missing", "hung" or "failed (exit 9)"."""
    if command is None:
        return known("missing", "PATH")
    ran = machine.run([command, "-L"], limit=CHILD_LIMIT)
    if ran.outcome == "exited":
        return known("ok" if ran.exit_code == 0 else f"failed (exit {ran.exit_code})", f"{command} -L")
    return known("hung" if ran.outcome == "hung" else f"failed ({ran.problem})", f"{command} -L")


_Stages = Mapping[str, Mapping[str, object]]


def _ask(machine: Machine, nodes: Iterable[str]) -> tuple[_Stages, Ran]:
    """The stages that the child finished, and how it ended."""
    if machine.python is None:
        return {}, Ran(outcome="missing", problem="tfenv does not know its own interpreter")
    script = Path(__file__).with_name("nvidia_script.py").read_text(encoding="utf-8")
    paths = [str(machine.path(node)) for node in nodes]
    ran = machine.run([machine.python, "-I", "-S", "-c", script, *paths], limit=CHILD_LIMIT)
    stages: dict[str, Mapping[str, object]] = {}
    for line in ran.stdout.splitlines():
        try:
            finished = json.loads(line)
        except ValueError:
            continue  # cut off by the end of the child
        if isinstance(finished, dict):
            stages.update({key: value for key, value in finished.items() if isinstance(value, dict)})
    return stages, ran


def _stage(stages: _Stages, ran: Ran, name: str, source: str) -> Fact[Mapping[str, object]]:
    if name in stages:
        return known(stages[name], source)
    if ran.outcome == "hung":
        return unknown(source, f"no answer within {CHILD_LIMIT:g} s")
    if ran.outcome == "exited" and ran.exit_code < 0:
        return unknown(source, f"the driver's library crashed (signal {-ran.exit_code})")
    said = ran.stderr.strip().splitlines()
    return unknown(source, ran.problem or (said[-1] if said else f"the child ended with {ran.exit_code}"))


def _nvml(stages: _Stages, ran: Ran) -> Fact[Mapping[str, object]]:
    """What NVML answered; known ``None``: no NVML here, or no driver loaded behind it."""
    stage = _stage(stages, ran, "nvml", "NVML")
    if stage.value is None:
        return stage
    if "missing" in stage.value:
        return known(None, f"NVML: {stage.value['missing']}")
    if stage.value.get("code") == _DRIVER_NOT_LOADED:
        return known(None, "NVML: the driver is not loaded")
    if "driver" not in stage.value:
        return unknown("NVML", str(stage.value.get("problem")))
    return stage


def _text_of(stages: _Stages, ran: Ran, key: str) -> Fact[str]:
    nvml = _nvml(stages, ran)
    if nvml.value is None:
        return known(None, nvml.source) if nvml.known else unknown(nvml.source, nvml.reason)
    value = nvml.value.get(key)
    return (
        known(value, nvml.source) if isinstance(value, str) else unknown("NVML", f"it gives no {key} version")
    )


def _gpus(stages: _Stages, ran: Ran) -> Fact[tuple[GpuFacts, ...]]:
    nvml = _nvml(stages, ran)
    if nvml.value is None:
        return known((), nvml.source) if nvml.known else unknown(nvml.source, nvml.reason)
    rows = nvml.value.get("gpus")
    if not isinstance(rows, list):
        return unknown("NVML", str(nvml.value.get("problem")))
    return known(tuple(_gpu(index, row) for index, row in enumerate(rows)), nvml.source)


def _gpu(index: int, row: Mapping[str, object]) -> GpuFacts:
    name, capability, memory = (row.get(key) for key in ("name", "compute_capability", "memory"))
    return GpuFacts(
        index=index,
        name=name if isinstance(name, str) else f"unreadable GPU ({row.get('problem', 'it gives no name')})",
        compute_capability=capability if isinstance(capability, str) else None,
        memory=memory if isinstance(memory, int) else None,
    )


def _usable(stages: _Stages, ran: Ran) -> Fact[bool]:
    """Whether every node can be opened for reading and writing; the source names those that cannot."""
    source = "opening the device nodes"
    stage = _stage(stages, ran, "nodes", source)
    if stage.value is None:
        return unknown(source, stage.reason)
    if not stage.value:
        return known(None, "no device nodes")
    refused = [f"{Path(node).name}: {error}" for node, error in stage.value.items() if error is not None]
    return known(not refused, f"{source}: {'; '.join(refused)}" if refused else source)


def _libcuda(stages: _Stages, ran: Ran) -> Fact[str]:
    stage = _stage(stages, ran, "libcuda", "the loader")
    if stage.value is None:
        return unknown(stage.source, stage.reason)
    path = stage.value.get("path")
    return known(path if isinstance(path, str) else None, "the loader")
