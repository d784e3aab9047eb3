"""NVIDIA facts: from recorded answers, and from a compiled stand-in for the library that hangs or crashes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from facts.fakes import FakeMachine

from tfenv.facts import nvidia as reader
from tfenv.facts.machine import LocalMachine, Ran
from tfenv.facts.model import GpuFacts, NvidiaFacts, known, unknown
from tfenv.facts.nvidia import nvidia_facts, proc_version

PROC = "/proc/driver/nvidia/version"
PCI = "/sys/bus/pci/devices/0000:01:00.0"
CARD = {f"{PCI}/vendor": "0x10de\n", f"{PCI}/class": "0x030000\n"}
NODES = {"/dev/nvidia0": "", "/dev/nvidiactl": "", "/dev/nvidia-uvm": "", "/dev/nvidia-uvm-tools": ""}
DRIVER = {
    PROC: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.144.03  Tue Mar 18 2025\nGCC version: 12\n"
}
RTX = {"name": "NVIDIA GeForce RTX 4090", "compute_capability": "8.9", "memory": 24564 * 1024**2}
T4 = {"name": "Tesla T4", "compute_capability": "7.5", "memory": 15360 * 1024**2}
SMI_OK = Ran(outcome="exited", stdout="GPU 0: NVIDIA GeForce RTX 4090\n")

OPENED = {"nodes": {"/x/dev/nvidia0": None, "/x/dev/nvidiactl": None}}
LIBCUDA = {"libcuda": {"path": "/usr/lib/x86_64-linux-gnu/libcuda.so.1"}}


def said(*stages: dict[str, object], ran: Ran | None = None) -> Ran:
    return replace(ran or Ran(outcome="exited"), stdout="".join(json.dumps(stage) + "\n" for stage in stages))


def nvml(*gpus: dict[str, object]) -> dict[str, object]:
    return {"nvml": {"driver": "550.144.03", "cuda": "12.4", "gpus": list(gpus)}}


def machine(root: Path, child: Ran, smi: Ran | None = SMI_OK, **files: str) -> FakeMachine:
    commands = {"python": child, **({"nvidia-smi": smi} if smi else {})}
    return FakeMachine(root, files={**CARD, **NODES, **DRIVER, **files}, commands=commands)


def test_a_healthy_machine_with_two_gpus(tmp_path: Path) -> None:
    assert nvidia_facts(machine(tmp_path, said(OPENED, LIBCUDA, nvml(RTX, T4)))) == NvidiaFacts(
        pci_devices=known(1, "/sys/bus/pci/devices"),
        driver_nvml=known("550.144.03", "NVML"),
        cuda_version_nvml=known("12.4", "NVML"),
        gpus=known(
            (
                GpuFacts(index=0, name=RTX["name"], compute_capability="8.9", memory=24564 * 1024**2),
                GpuFacts(index=1, name="Tesla T4", compute_capability="7.5", memory=15360 * 1024**2),
            ),
            "NVML",
        ),
        driver_proc=known("550.144.03", PROC),
        device_nodes=known(("/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"), "/dev"),
        devices_usable=known(True, "opening the device nodes"),
        nvidia_smi=known("ok", "/usr/bin/nvidia-smi -L"),
        libcuda=known("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "the loader"),
    )


def test_a_machine_without_any_sign_starts_no_child(tmp_path: Path) -> None:
    nothing = "no sign of an NVIDIA device or driver"
    plain = FakeMachine(
        tmp_path, files={"/dev/null": "", f"{PCI}/vendor": "0x8086", f"{PCI}/class": "0x030000"}
    )
    assert nvidia_facts(plain) == NvidiaFacts(
        pci_devices=known(0, "/sys/bus/pci/devices"),
        driver_nvml=known(None, nothing),
        cuda_version_nvml=known(None, nothing),
        gpus=known((), nothing),
        driver_proc=known(None, nothing),
        device_nodes=known((), nothing),
        devices_usable=known(None, nothing),
        nvidia_smi=known("missing", nothing),
        libcuda=known(None, nothing),
    )
    assert plain.ran == []


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(CARD, id="pci"),
        pytest.param({"/dev/nvidiactl": ""}, id="node"),
        pytest.param({"/dev/dxg": ""}, id="wsl"),
        pytest.param(DRIVER, id="kernel-driver"),
        pytest.param({"/usr/lib64-nvidia/libnvidia-ml.so.1": ""}, id="library-in-a-known-folder"),
        pytest.param({"/opt/driver/libnvidia-ml.so.1": ""}, id="library-on-the-loader-path"),
        pytest.param({"/etc/ld.so.cache": "\0x\0libnvidia-ml.so.1\0/somewhere\0"}, id="library-in-the-cache"),
    ],
)
def test_any_sign_starts_the_child(tmp_path: Path, files: dict[str, str]) -> None:
    one = FakeMachine(tmp_path, files=files, environ={"LD_LIBRARY_PATH": ":/opt/driver"})
    nvidia_facts(one)
    assert [command[0] for command in one.ran] == ["python"]


def test_no_driver_exists_for_a_mac(tmp_path: Path) -> None:
    mac = FakeMachine(tmp_path, platform="darwin", files=DRIVER)
    nothing = "no NVIDIA driver exists for this system"
    assert nvidia_facts(mac).pci_devices == unknown("the PCI bus", "not read on macOS")
    assert nvidia_facts(mac).driver_nvml == known(None, nothing)


def test_a_driver_that_is_older_than_its_library(tmp_path: Path) -> None:
    mismatch = {"nvml": {"code": 18, "problem": "Driver/library version mismatch"}}
    failed = Ran(outcome="exited", exit_code=18)
    facts = nvidia_facts(machine(tmp_path, said(OPENED, LIBCUDA, mismatch), smi=failed))
    problem = unknown("NVML", "Driver/library version mismatch")
    assert facts.driver_nvml == facts.cuda_version_nvml == facts.gpus == problem
    assert facts.driver_proc == known("550.144.03", PROC)
    assert facts.nvidia_smi == known("failed (exit 18)", "/usr/bin/nvidia-smi -L")


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        pytest.param(
            {"code": 9, "problem": "Driver Not Loaded"}, "NVML: the driver is not loaded", id="not-loaded"
        ),
        pytest.param(
            {"missing": "libnvidia-ml.so.1: no such file"},
            "NVML: libnvidia-ml.so.1: no such file",
            id="no-library",
        ),
    ],
)
def test_no_driver_is_known_not_unknown(tmp_path: Path, answer: dict[str, object], source: str) -> None:
    none = {"libcuda": {"path": None, "problem": "libcuda.so.1: no such file"}}
    facts = nvidia_facts(machine(tmp_path, said(OPENED, none, {"nvml": answer}), smi=None))
    assert (facts.driver_nvml, facts.gpus) == (known(None, source), known((), source))
    assert facts.libcuda == known(None, "the loader")
    assert facts.nvidia_smi == known("missing", "PATH")


def test_a_lost_gpu_is_listed_with_its_problem(tmp_path: Path) -> None:
    facts = nvidia_facts(machine(tmp_path, said(OPENED, LIBCUDA, nvml(T4, {"problem": "GPU is lost"}))))
    assert facts.gpus.value is not None
    assert facts.gpus.value[1] == GpuFacts(index=1, name="unreadable GPU (GPU is lost)")


def test_devices_that_cannot_be_opened(tmp_path: Path) -> None:
    nodes = {"nodes": {"/x/dev/nvidia0": "Permission denied", "/x/dev/nvidiactl": None}}
    facts = nvidia_facts(machine(tmp_path, said(nodes, LIBCUDA, nvml(RTX))))
    assert facts.devices_usable == known(False, "opening the device nodes: nvidia0: Permission denied")
    assert facts.driver_nvml == known("550.144.03", "NVML")


@pytest.mark.parametrize(
    ("ran", "reason"),
    [
        pytest.param(Ran(outcome="hung"), "no answer within 4 s", id="hang"),
        pytest.param(
            Ran(outcome="exited", exit_code=-11), "the driver's library crashed (signal 11)", id="crash"
        ),
        pytest.param(Ran(outcome="exited", exit_code=1, stderr="a\nOops\n"), "Oops", id="error"),
        pytest.param(Ran(outcome="missing", problem="No such file"), "No such file", id="no-interpreter"),
    ],
)
def test_what_came_before_a_hang_or_crash_is_kept(tmp_path: Path, ran: Ran, reason: str) -> None:
    facts = nvidia_facts(machine(tmp_path, said(OPENED, LIBCUDA, ran=ran)))
    assert facts.devices_usable.value is True
    assert facts.libcuda.value == "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
    assert facts.driver_nvml == facts.gpus == unknown("NVML", reason)


def test_half_a_line_is_no_answer(tmp_path: Path) -> None:
    child = Ran(outcome="hung", stdout='{"nodes": {}}\n{"libcuda": {"pa')
    assert nvidia_facts(machine(tmp_path, child)).libcuda == unknown("the loader", "no answer within 4 s")


def test_tfenv_may_not_know_its_own_interpreter(tmp_path: Path) -> None:
    one = FakeMachine(tmp_path, files=DRIVER, python=None)
    reason = "tfenv does not know its own interpreter"
    assert nvidia_facts(one).driver_nvml == unknown("NVML", reason)


@pytest.mark.parametrize(
    ("line", "version"),
    [
        pytest.param(DRIVER[PROC], "550.144.03", id="proprietary"),
        pytest.param(
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.64.03  Release Build  (x@y)\n",
            "575.64.03",
            id="open",
        ),
        pytest.param(
            "NVRM version: NVIDIA UNIX aarch64 Kernel Module  580.95  now\n", "580.95", id="two-parts"
        ),
    ],
)
def test_the_version_of_the_kernel_driver(tmp_path: Path, line: str, version: str) -> None:
    assert proc_version(FakeMachine(tmp_path, files={PROC: line})) == known(version, PROC)


def test_an_unfamiliar_version_file_is_unknown(tmp_path: Path) -> None:
    fact = proc_version(FakeMachine(tmp_path, files={PROC: "something else\n"}))
    assert fact == unknown(PROC, "no version in its first line")


# From here on: a real child, and a library that stands in for NVIDIA's.

FAKE_NVML = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int is(const char *what) {
  const char *mode = getenv("FAKE_NVML");
  return mode && !strcmp(mode, what);
}
const char *nvmlErrorString(int code) { return code == 15 ? "GPU is lost" : "Unknown Error"; }
int nvmlInit_v2(void) {
  fputs("noise without end of line", stdout);
  fflush(stdout);
  if (is("hang")) sleep(60);
  if (is("crash")) abort();
  return is("fail") ? 999 : 0;
}
int nvmlSystemGetDriverVersion(char *text, unsigned size) { snprintf(text, size, "550.54.15"); return 0; }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 12040; return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
  *handle = (void *)(0x700000000000 + index);  /* beyond 32 bits: a handle cut short is caught below */
  return index == 1 && is("lost") ? 15 : 0;
}
int nvmlDeviceGetName(void *handle, char *text, unsigned size) {
  snprintf(text, size, "Tesla T4 #%lx", (unsigned long)handle - 0x700000000000);
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) {
  *major = 7; *minor = 5;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *memory) {
  memory[0] = 16106127360ULL; memory[1] = 1; memory[2] = 2;
  return 0;
}
"""

needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="compiles a stand-in for NVIDIA's library"
)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nvml")
    (folder / "nvml.c").write_text(FAKE_NVML)
    source, nvml_file = str(folder / "nvml.c"), str(folder / "libnvidia-ml.so.1")
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", nvml_file, source], check=True)
    shutil.copy(nvml_file, folder / "libcuda.so.1")
    return folder


def real(root: Path, libraries: Path | None, mode: str = "", *, path: str = "") -> LocalMachine:
    """A tree with NVIDIA's nodes whose children really run and load the stand-in."""
    FakeMachine(root, files={**NODES, **CARD})
    environ = {"FAKE_NVML": mode, "PATH": path}
    if libraries is not None:
        environ["LD_LIBRARY_PATH"] = str(libraries)
    return LocalMachine(root=root, environ=environ)


def gpu(index: int) -> GpuFacts:
    return GpuFacts(index=index, name=f"Tesla T4 #{index}", compute_capability="7.5", memory=16106127360)


@needs_compiler
def test_the_child_reads_nvml(tmp_path: Path, libraries: Path) -> None:
    assert nvidia_facts(real(tmp_path, libraries)) == NvidiaFacts(
        pci_devices=known(1, "/sys/bus/pci/devices"),
        driver_nvml=known("550.54.15", "NVML"),
        cuda_version_nvml=known("12.4", "NVML"),
        gpus=known((gpu(0), gpu(1)), "NVML"),
        driver_proc=known(None, PROC),
        device_nodes=known(("/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"), "/dev"),
        devices_usable=known(True, "opening the device nodes"),
        nvidia_smi=known("missing", "PATH"),
        libcuda=known(str(libraries / "libcuda.so.1"), "the loader"),
    )


@needs_compiler
def test_the_child_survives_a_lost_gpu(tmp_path: Path, libraries: Path) -> None:
    lost = GpuFacts(index=1, name="unreadable GPU (GPU is lost)")
    assert nvidia_facts(real(tmp_path, libraries, "lost")).gpus == known((gpu(0), lost), "NVML")


@needs_compiler
def test_a_crashing_library_takes_only_the_child(tmp_path: Path, libraries: Path) -> None:
    facts = nvidia_facts(real(tmp_path, libraries, "crash"))
    assert facts.driver_nvml == unknown("NVML", "the driver's library crashed (signal 6)")
    assert facts.libcuda.value == str(libraries / "libcuda.so.1")


@needs_compiler
def test_an_error_of_the_library_is_unknown(tmp_path: Path, libraries: Path) -> None:
    assert nvidia_facts(real(tmp_path, libraries, "fail")).gpus == unknown("NVML", "Unknown Error")


@needs_compiler
def test_library_and_nvidia_smi_hang_at_the_same_time(tmp_path: Path, libraries: Path) -> None:
    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "nvidia-smi").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    (commands / "nvidia-smi").chmod(0o755)
    before = time.monotonic()
    facts = nvidia_facts(real(tmp_path / "root", libraries, "hang", path=str(commands)))
    took = time.monotonic() - before
    assert facts.nvidia_smi == known("hung", f"{commands}/nvidia-smi -L")
    assert facts.driver_nvml == unknown("NVML", "no answer within 4 s")
    assert facts.devices_usable == known(True, "opening the device nodes")
    # One after the other would be twice the limit.
    assert took < 2 * reader.CHILD_LIMIT - 0.5


@needs_compiler
def test_nodes_that_cannot_be_opened(tmp_path: Path, libraries: Path) -> None:
    one = real(tmp_path, libraries)
    (tmp_path / "dev/nvidia0").unlink()
    (tmp_path / "dev/nvidia0").mkdir()  # even root cannot open it for writing
    assert nvidia_facts(one).devices_usable == known(
        False, "opening the device nodes: nvidia0: Is a directory"
    )


@needs_compiler
def test_without_the_library_there_is_no_driver(tmp_path: Path) -> None:
    if reader.library_present(LocalMachine()):
        pytest.skip("this machine has NVIDIA's library")
    facts = nvidia_facts(real(tmp_path, None))
    assert facts.driver_nvml.known
    assert facts.driver_nvml.value is None
    assert facts.driver_nvml.source.startswith("NVML: libnvidia-ml.so.1")
    assert facts.libcuda == known(None, "the loader")
