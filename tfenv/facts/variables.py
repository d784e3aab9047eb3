"""The environment variables that decide what TensorFlow, installers and Python do."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tfenv.facts.machine import Machine
from tfenv.facts.model import Fact, known
from tfenv.redact import MASK, mask_value

#: Only these are ever shown: a secret may sit under any other name.
_SHOWN = re.compile(
    r"(COLAB|CUDA|CUDNN|DYLD|KAGGLE|KERAS|KMP|LD|MKL|NCCL|NVIDIA|ONEDNN|OPENBLAS|PIP|TBE|TF|TFENV|TPU|UV|XLA)_\w+"
    r"|CI|CONDA_(DEFAULT_ENV|PREFIX)|HOROVOD_FUSION_THRESHOLD|JPY_PARENT_PID|LANG|LC_ALL|MALLOC_ARENA_MAX"
    r"|MPLBACKEND|OMP_NUM_THREADS|PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION|PYTHON(DONTWRITEBYTECODE|HASHSEED|HOME"
    r"|NOUSERSITE|OPTIMIZE|PATH|PYCACHEPREFIX|SAFEPATH|USERBASE)|REQUESTS_CA_BUNDLE|SLURM_JOB_ID"
    r"|SSL_CERT_(DIR|FILE)|TE?MP|TMPDIR|VERTEX_PRODUCT|VIRTUAL_ENV|WSL_DISTRO_NAME|XDG_CACHE_HOME"
    r"|(HTTPS?|ALL|NO)_PROXY|(https?|all|no)_proxy"
)
#: Terraform's variables share the prefix TF_, and TF_VAR_* often hold secrets under innocent names.
_TERRAFORM = re.compile(r"TF_(VAR|CLI|TOKEN|LOG|REGISTRY|PLUGIN|WORKSPACE|DATA|INPUT|IN|IGNORE|STATE)(_\w+)?")
#: The notebook hosts' own variables name a session's inner services and its user; these do not.
_HOST = re.compile(r"(COLAB|KAGGLE|TBE)_")
_HOST_SHOWN = re.compile(
    r"COLAB_(BACKEND_VERSION|DISABLE_STDIN_FOR_SHELL_MAGICS|GPU|JUPYTER_TRANSPORT|RELEASE_TAG)"
    r"|KAGGLE_(DOCKER_IMAGE|KERNEL_INTEGRATIONS|KERNEL_RUN_TYPE)"
)


def variables(machine: Machine) -> Fact[Mapping[str, str]]:
    """The variables that matter, sorted; secrets are ``***`` and the home folder is ``~``."""
    environ = machine.environ
    shown = {name: _value(name, environ) for name in sorted(environ) if _matters(name)}
    return known(shown, "the environment of this process")


def _matters(name: str) -> bool:
    return bool(_SHOWN.fullmatch(name)) and not _TERRAFORM.fullmatch(name)


def _value(name: str, environ: Mapping[str, str]) -> str:
    value = environ[name]
    if value and _HOST.match(name) and not _HOST_SHOWN.fullmatch(name):
        return MASK
    return mask_value(name, value, environ)
