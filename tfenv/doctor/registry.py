"""Every check, in the order of the ladder."""

from __future__ import annotations

from tfenv.doctor import (
    compatibility,
    cuda,
    cuda_wheels,
    distributions,
    environment,
    interpreter,
    locked,
    macos,
    native,
    nvidia,
    nvidia_driver,
    other_devices,
    requirements,
    running,
    variables,
)
from tfenv.doctor.model import Check

CHECKS: tuple[Check, ...] = (
    *interpreter.CHECKS,
    *environment.CHECKS,
    *variables.CHECKS,
    *distributions.CHECKS,
    *compatibility.CHECKS,
    *requirements.CHECKS,
    *locked.CHECKS,
    *native.CHECKS,
    *nvidia.CHECKS,
    *nvidia_driver.CHECKS,
    *cuda.CHECKS,
    *cuda_wheels.CHECKS,
    *other_devices.CHECKS,
    *macos.CHECKS,
    *running.CHECKS,
)
