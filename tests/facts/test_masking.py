"""Secrets and personal data stay inside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from facts.fakes import FakeMachine, probe

from tfenv.codec import decode, encode
from tfenv.facts.model import Distribution, Facts, known
from tfenv.facts.read import facts_of
from tfenv.facts.recorded import load_facts
from tfenv.facts.variables import variables
from tfenv.redact import mask_text, mask_value, masked

ALICE = {"HOME": "/home/alice", "USER": "alice"}
MACHINES = Path(__file__).parent.parent / "machines"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("https://me:pw@host.example/simple", "https://***@host.example/simple", id="url"),
        pytest.param("https://host.example/simple", "https://host.example/simple", id="url-without-user"),
        pytest.param("https://me:p@w@host.example/", "https://***@host.example/", id="at-in-password"),
        pytest.param("https://me:p/w@host.example/", "https://***@host.example/", id="slash-in-password"),
        pytest.param(
            "https://tok@host.example/ https://a/", "https://***@host.example/ https://a/", id="token-user"
        ),
        pytest.param("me:pw@proxy.example:8080", "***@proxy.example:8080", id="no-scheme"),
        pytest.param("b @ git+https://u:p@h.example/b", "b @ git+https://***@h.example/b", id="requirement"),
        pytest.param("https://h.example/?token=abc&x=1", "https://h.example/?token=***&x=1", id="parameter"),
        pytest.param("--password hunter", "--password hunter", id="words-are-left"),
        pytest.param("api_key=abc;mode=1", "api_key=***;mode=1", id="assignment"),
        pytest.param("x ghp_0123456789abcdefghij y", "x *** y", id="github-token"),
        pytest.param("hf_0123456789abcdefghij", "***", id="hub-token"),
        pytest.param("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "***", id="web-token"),
        pytest.param("/home/alice/.venv:/home/alice", "~/.venv:~", id="home"),
        pytest.param("/home/alicette/x", "~/x", id="another-home"),
        pytest.param("/data/home/alice2", "/data/home/alice2", id="not-a-home"),
        pytest.param("/Users/bob/x:/usr/lib", "~/x:/usr/lib", id="mac-home"),
        pytest.param("C:\\Users\\bob\\x", "~\\x", id="windows-home"),
        pytest.param("/scratch/alice/run", "/scratch/~/run", id="user-name-in-a-path"),
        pytest.param("/opt/malice/alice.txt", "/opt/malice/alice.txt", id="user-name-inside-a-word"),
        pytest.param("google-auth==2.43.0", "google-auth==2.43.0", id="exact-pin"),
        pytest.param('{"token": "abc", "n": 1}', '{"token": "***", "n": 1}', id="json"),
        pytest.param("tensorflow>=2.18,<2.19", "tensorflow>=2.18,<2.19", id="plain"),
    ],
)
def test_mask_text(text: str, expected: str) -> None:
    assert mask_text(text, ALICE) == expected


def test_an_impersonal_user_is_no_personal_data() -> None:
    assert mask_text("/usr/share/app/x", {"HOME": "/app", "USER": "app"}) == "/usr/share/app/x"


def test_without_a_home_nothing_is_lost() -> None:
    assert mask_text("/opt/x", {}) == "/opt/x"


@pytest.mark.parametrize(
    "name",
    [
        "UV_PUBLISH_TOKEN",
        "UV_INDEX_PRIVATE_PASSWORD",
        "UV_INDEX_PRIVATE_USERNAME",
        "NVIDIA_API_KEY",
        "PIP_CLIENT_SECRET",
        "TF_HTTP_AUTHORIZATION",
        "TBE_CREDS_ADDR",
    ],
)
def test_names_that_announce_a_secret(name: str) -> None:
    assert mask_value(name, "CANARY", {}) == "***"
    assert mask_value(name, "", {}) == ""


def test_variables_show_what_matters_and_nothing_else(tmp_path: Path) -> None:
    environ = {
        **ALICE,
        "LD_LIBRARY_PATH": "/home/alice/cuda/lib64",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "KERAS_BACKEND": "jax",
        "CUDA_VISIBLE_DEVICES": "",
        "PIP_INDEX_URL": "https://alice:CANARY1@index.example/simple",
        "UV_EXTRA_INDEX_URL": "https://a.example https://b:CANARY2@b.example",
        "UV_PUBLISH_TOKEN": "CANARY3",
        "https_proxy": "http://alice:CANARY4@proxy.example:8080",
        "TF_VAR_database": "CANARY5",
        "TF_TOKEN_app_example": "CANARY6",
        "TF_CLI_CONFIG_FILE": "/home/alice/.terraformrc",
        "KAGGLE_KERNEL_RUN_TYPE": "Batch",
        "KAGGLE_USERNAME": "CANARY7",
        "KAGGLE_DATA_PROXY_URL": "CANARY8",
        "COLAB_RELEASE_TAG": "release-1",
        "COLAB_JUPYTER_IP": "172.28.0.12",
        "TBE_RUNTIME_ADDR": "CANARY9",
        "AWS_SECRET_ACCESS_KEY": "CANARY10",
        "MY_INNOCENT_NAME": "CANARY11",
        "PYTHONPATH": "/home/alice/lib",
        "PYTHONHASHSEED": "0",
    }
    assert variables(FakeMachine(tmp_path, environ=environ)) == known(
        {
            "COLAB_JUPYTER_IP": "***",
            "COLAB_RELEASE_TAG": "release-1",
            "CUDA_VISIBLE_DEVICES": "",
            "KAGGLE_DATA_PROXY_URL": "***",
            "KAGGLE_KERNEL_RUN_TYPE": "Batch",
            "KAGGLE_USERNAME": "***",
            "KERAS_BACKEND": "jax",
            "LD_LIBRARY_PATH": "~/cuda/lib64",
            "PIP_INDEX_URL": "https://***@index.example/simple",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": "~/lib",
            "TBE_RUNTIME_ADDR": "***",
            "TF_CPP_MIN_LOG_LEVEL": "2",
            "UV_EXTRA_INDEX_URL": "https://a.example https://***@b.example",
            "UV_PUBLISH_TOKEN": "***",
            "https_proxy": "http://***@proxy.example:8080",
        },
        "the environment of this process",
    )


def shown(facts: Facts, environ: Mapping[str, str]) -> Facts:
    """``facts`` as their JSON shows them."""
    return decode(Facts, masked(encode(facts), environ))


def test_no_canary_leaves_the_machine(tmp_path: Path) -> None:
    """Planted in variables, the path of the environment, requirements and PEP 668's message."""
    prefix = "/home/canary-user/env"
    site = f"{prefix}/lib/python3.11/site-packages"
    metadata = "Name: a\nVersion: 1\nRequires-Dist: b @ https://u:CANARY-1@h.example/b.whl\n"
    machine = FakeMachine(
        tmp_path,
        files={
            f"{site}/a-1.dist-info/METADATA": metadata,
            "/usr/lib/EXTERNALLY-MANAGED": "[externally-managed]\nError=ask ftp://x:CANARY-2@h.example\n",
        },
        environ={
            "HOME": "/home/canary-user",
            "USER": "canary-user",
            "TF_VAR_x": "CANARY-3",
            "PIP_INDEX_URL": "https://u:CANARY-4@h.example/",
            "LD_LIBRARY_PATH": "/scratch/canary-user/lib",
            "VIRTUAL_ENV": prefix,
            "TF_CONFIG": '{"token": "CANARY-5"}',
        },
    )
    here = probe(prefix=prefix, base_prefix=prefix, path=(site,), purelib=site, stdlib="/usr/lib")
    facts = shown(facts_of(here, cwd=tmp_path, machine=machine), machine.environ)
    text = json.dumps(encode(facts))
    assert "canary" not in text.lower()
    assert facts.packages.distributions == known(
        (
            Distribution(
                name="a",
                version="1",
                location="~/env/lib/python3.11/site-packages",
                requires=("b @ https://***@h.example/b.whl",),
            ),
        ),
        "metadata folders on sys.path",
    )
    assert facts.environment.externally_managed.value == "ask ftp://***@h.example"


def test_recorded_machines_hold_no_personal_data() -> None:
    for path in sorted(MACHINES.glob("*.json")):
        facts = load_facts(path)
        assert shown(facts, {}) == facts, path.name
