"""Addresses at which there is no Ray to place workers: they are refused before anything is made."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from hipo.cli.main import run
from pipeline.executors import ray as ray_executor

services = pytest.importorskip("ray._private.services")
PLAN = ["generate", "-m", "offline/rules", "--scenarios", "products", "-n", "12", "-q"]


def test_an_address_without_ray_is_refused(tmp_path, capsys) -> None:
    assert run([*PLAN, "-o", str(tmp_path / "r"), "--ray-address", "auto"]) == 2
    assert "--executor ray" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:{closed}", "no Ray cluster can be reached at 127.0.0.1:{closed}: "),
        ("auto", "no Ray cluster can be reached at 127.0.0.1:{closed} (auto): "),
        ("head", "--ray-address: found 'head', expected auto or HOST:PORT"),
        ("head:70000", "--ray-address: found 'head:70000', expected auto or HOST:PORT"),
        ("ray://head:10001", "--ray-address: found 'ray://head:10001', expected auto or HOST:PORT"),
        ("head..cluster:6379", "no Ray cluster can be reached at head..cluster:6379: "),
    ],
)
def test_an_address_where_nothing_listens_is_refused_at_once(
    address, message, tmp_path, capsys, monkeypatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed = taken.getsockname()[1]  # nobody listens there
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{closed}")
        monkeypatch.setattr(services, "get_node_ip_address", lambda: "127.0.0.1")  # no other is let
        named = ["--executor", "ray", "--ray-address", address.format(closed=closed)]
        assert run([*PLAN, "-o", str(tmp_path / "r"), *named]) == 2
    assert message.format(closed=closed) in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "it says nothing within 0 s"),
        (b"", "it hangs up"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "it speaks no HTTP/2"),
    ],
)
def test_what_listens_and_is_no_ray_is_refused_before_ray_tries_it(
    answer: bytes | None,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray_executor, "ANSWER_S", 0.2 if answer is None else 20.0)
    monkeypatch.setattr(ray_executor, "mode_of", None)
    monkeypatch.delenv("RAY_USE_TLS", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answered() -> None:
            with listening.accept()[0] as connection:
                connection.recv(64)
                connection.sendall(answer or b"")

        thread = threading.Thread(target=answered, daemon=True)
        if answer is not None:
            thread.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        named = ["--executor", "ray", "--ray-address", address, "-o", str(tmp_path / "r")]
        assert run([*PLAN, *named]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"what listens at {address} does not answer as a Ray cluster: {message}" in told
    assert not (tmp_path / "r").exists()
