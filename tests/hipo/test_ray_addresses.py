"""Addresses at which there is no Ray to place workers: they are refused before anything is made."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from pathlib import Path

import anyio
import pytest

from hipo.cli.main import run
from pipeline.executors import ray as ray_executor
from pipeline.executors import ray_addresses, ray_tokens

services = pytest.importorskip("ray._private.services")
_REFUSAL = b"\x15\x03\x03\x00\x02\x02%b"
"""A fatal alert of TLS."""
TLS = Path(__file__).parents[1] / "wire" / "tls"
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
    monkeypatch.setattr(ray_addresses, "ANSWER_S", 0.2 if answer is None else 20.0)
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


@pytest.mark.parametrize(
    ("agreed", "message"),
    [
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "TLS, which RAY_USE_TLS asks for, cannot begin there",
        ),
        (_REFUSAL % b"\x28", "TLS, which RAY_USE_TLS asks for, cannot begin there"),
        (_REFUSAL % b"\x78", "it speaks no HTTP/2"),  # no_application_protocol
        (["http/1.1"], "it speaks no HTTP/2"),
        (["h2"], "Timed out"),
    ],
)
def test_under_tls_what_is_no_ray_is_refused_before_ray_tries_it(
    agreed: list[str] | bytes,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    for name in ("CERT", "KEY"):
        monkeypatch.delenv(f"RAY_TLS_SERVER_{name}", raising=False)
    asked: list[str] = []

    async def knocked(address: str) -> str:
        asked.append(address)
        raise ray_tokens.no_cluster(address, "Timed out")

    monkeypatch.setattr(ray_executor, "mode_of", knocked)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answered() -> None:
            connection, _ = listening.accept()
            with connection:
                if isinstance(agreed, bytes):
                    connection.recv(4096)
                    connection.sendall(agreed)
                    return
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")
                context.set_alpn_protocols(agreed)
                with context.wrap_socket(connection, server_side=True) as secured:
                    secured.recv(64)

        thread = threading.Thread(target=answered, daemon=True)
        thread.start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        named = ["--executor", "ray", "--ray-address", address, "-o", str(tmp_path / "r")]
        assert run([*PLAN, *named]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"what listens at {address} does not answer as a Ray cluster: {message}" in told
    assert asked == ([address] if agreed == ["h2"] else [])
    assert not (tmp_path / "r").exists()


def test_a_certificate_that_cannot_be_read_is_told_with_its_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_USE_TLS", "1")
    monkeypatch.setenv("RAY_TLS_SERVER_CERT", "nowhere.crt")
    monkeypatch.setenv("RAY_TLS_SERVER_KEY", "nowhere.key")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        named = ["--executor", "ray", "--ray-address", address, "-o", str(tmp_path / "r")]
        assert run([*PLAN, *named]) == 2
    told = capsys.readouterr().err
    assert "the certificate nowhere.crt with the key nowhere.key cannot be used" in told
    assert "RAY_TLS_SERVER_CERT" in told


@pytest.mark.anyio
async def test_an_interrupt_while_ray_knocks_ends_at_once_and_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray goes on knocking, for the better part of a minute and whatever signal it gets."""
    begun = tmp_path / "begun"
    deaf = "import os, pathlib, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    deaf += f"pathlib.Path({str(begun)!r}).write_text(str(os.getpid())); signal.pause()"
    monkeypatch.setattr(ray_tokens, "_KNOCK", deaf)
    knocking = asyncio.create_task(ray_tokens.mode_of("127.0.0.1:1"))
    with anyio.fail_after(60):
        while not (begun.exists() and begun.read_text()):
            await anyio.sleep(0.01)
        knocking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await knocking
    assert not Path(f"/proc/{begun.read_text()}").exists()
