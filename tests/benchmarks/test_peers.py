"""The benchmark beside other programs compares within a round, and says what is not installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import peers
from benchmarks.__main__ import measured
from benchmarks.peers import HIPO, PEERS, ROOT, SCRIPTS, Took, compared

CURATOR, KEPT, UNKEPT = (
    "Curator 0.1, its cache on",
    "datatrove 0.2, checkpoints",
    "datatrove 0.2, no checkpoints",
)


def test_everyone_is_compared_with_the_loop_of_the_same_round() -> None:
    seen = {
        "": [Took(1.0, 1.0), Took(2.0, 1.0), Took(4.0, 2.0)],
        HIPO: [Took(1.2, 2.0), Took(2.2, 2.0), Took(8.0, 4.0)],
        CURATOR: [Took(3.0, 9.0), Took(6.0, 9.0), Took(16.0, 9.0)],
        KEPT: [Took(6.0, 5.0), Took(4.0, 5.0), Took(10.0, 5.0)],
        UNKEPT: [Took(1.0, 1.0), Took(1.0, 1.0), Took(1.0, 1.0)],
    }
    rows = {row.name: row for row in compared(seen, 3_000)}
    ours = rows[f"peers: 3,000 calls, {HIPO}: time / plain aiohttp loop"]
    assert ours.value == pytest.approx(1.2)
    assert not ours.ok
    assert rows[f"peers: 3,000 calls, {CURATOR}: time / plain aiohttp loop"].value == 3.0
    assert rows[f"peers: 3,000 calls, {HIPO}: CPU / plain aiohttp loop"].value == 2.0
    # 1.2 of 3, 2.2 of 4, 8 of 10: whoever keeps nothing is no rival
    fastest = rows["peers: 3,000 calls: hipo / the fastest durable peer"]
    assert fastest.value == pytest.approx(0.55)
    assert fastest.ok


def test_a_peer_that_is_not_installed_is_told_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "ENVIRONMENTS", tmp_path)
    (row,) = measured("peers", {"quick": True})
    assert "curator is not installed: make bench-peers" in row.name


def test_a_peer_that_does_not_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def waits(command: list[str], *, timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    python = tmp_path / PEERS[0].environment / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setattr(peers, "ENVIRONMENTS", tmp_path)
    monkeypatch.setattr(subprocess, "run", waits)
    with pytest.raises(RuntimeError, match="Curator did not end within"):
        peers._asked(PEERS[0], "http://127.0.0.1:9/v1", tmp_path / "bodies.json", 1)


def test_every_peer_has_its_script_and_its_versions() -> None:
    for peer in PEERS:
        assert (SCRIPTS / peer.script).is_file()
        assert "==" in (SCRIPTS / f"{peer.environment}.txt").read_text()
        assert f"$(PEERS)/{peer.environment}/.done" in (ROOT / "Makefile").read_text()
