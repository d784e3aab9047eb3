"""Wheels on a server are read by ranges, and what was read is remembered by its hash."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.wheels import make_wheel

from tfenv.errors import TfenvError
from tfenv.locks.pylock import RemoteWheel
from tfenv.locks.wheelfile import RemoteWheels, WheelFacts

FACTS = WheelFacts(requires=("six>=1",), folders=("demo",))


class Server(ThreadingHTTPServer):
    """Serves one file; ``refuse`` holds the statuses of the next answers that fail."""

    daemon_threads = True

    def __init__(self, data: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.data = data
        self.asked = 0
        self.refuse: list[int] = []


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.asked += 1
        found = re.fullmatch(r"bytes=([0-9]+)-([0-9]+)", self.headers["Range"])
        assert found is not None
        body = server.data[int(found[1]) : int(found[2]) + 1]
        self.send_response(server.refuse.pop(0) if server.refuse else 206)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    make_wheel(tmp_path, "demo", "1.0", requires=["six>=1"])
    server = Server((tmp_path / "demo-1.0-py3-none-any.whl").read_bytes())
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def wheel_at(server: Server, scheme: str = "http") -> RemoteWheel:
    return RemoteWheel(
        filename="demo-1.0-py3-none-any.whl",
        url=f"{scheme}://127.0.0.1:{server.server_port}/demo-1.0-py3-none-any.whl",
        size=len(server.data),
        sha256="a" * 64,
    )


def test_a_wheel_is_read_once_and_then_remembered(server: Server, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert RemoteWheels(cache).read(wheel_at(server)) == FACTS
    assert RemoteWheels(cache).read(wheel_at(server)) == FACTS
    assert server.asked == 1
    assert [path.name for path in cache.iterdir()] == [f"{'a' * 64}.json"]


@pytest.mark.parametrize(
    "text",
    [pytest.param("{", id="no-json"), pytest.param("{}", id="no-facts"), pytest.param("[1]", id="list")],
)
def test_a_damaged_memory_is_read_anew(server: Server, tmp_path: Path, text: str) -> None:
    remembered = tmp_path / f"{'a' * 64}.json"
    remembered.write_text(text, encoding="utf-8")
    assert RemoteWheels(tmp_path).read(wheel_at(server)) == FACTS
    assert RemoteWheels(tmp_path).read(wheel_at(server)) == FACTS
    assert server.asked == 1


def test_a_server_that_stumbles_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.refuse = [503, 500]
    assert RemoteWheels(tmp_path / "cache", pause=0).read(wheel_at(server)) == FACTS
    assert server.asked == 3


@pytest.mark.parametrize(
    ("status", "why"),
    [
        pytest.param(404, "HTTP Error 404: Not Found", id="gone"),
        pytest.param(200, "the server gave 0 of the", id="no-ranges"),
    ],
)
def test_a_server_that_keeps_failing_is_named_with_the_reason(
    server: Server, tmp_path: Path, status: int, why: str
) -> None:
    server.refuse = [status] * 4
    with pytest.raises(TfenvError) as caught:
        RemoteWheels(tmp_path / "cache", pause=0).read(wheel_at(server))
    assert caught.value.code == "wheel-unreadable"
    assert caught.value.message.startswith(f"demo-1.0-py3-none-any.whl cannot be read from the index: {why}")
    assert server.asked == 4
    assert not (tmp_path / "cache").exists()


def test_only_addresses_of_the_web_are_opened(server: Server, tmp_path: Path) -> None:
    with pytest.raises(TfenvError, match="its address is not one of the web"):
        RemoteWheels(tmp_path / "cache").read(wheel_at(server, scheme="file"))
    assert server.asked == 0


def test_a_cache_that_cannot_be_written_does_not_matter(server: Server, tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file where a folder should be")
    assert RemoteWheels(tmp_path / "cache").read(wheel_at(server)) == FACTS
