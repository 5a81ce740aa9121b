"""A run in batches that is killed at every step pays for nothing twice and loses nothing."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.forked import forked
from tests.pipeline.batches.killed import MOMENTS, killed
from tests.pipeline.batches.runs import KEYS
from tests.pipeline.integration.command import environment
from tests.pipeline.integration.records import rows
from tests.wire.server import WireServer


def started(folder: Path, server: WireServer, provider: str, moment: str) -> int:
    """Run ``hipo generate --batch`` until it ends or is killed; return its exit code."""
    url = server.openai_url if provider == "openai" else server.anthropic_url
    arguments = (
        moment, "1", "generate", "--model", f"{provider}/rules", "--base-url", url, "-n", "12", "--turns", "1",
        "--openings", "by-goal", "--batch", "-q", "-o", "run",
    )  # fmt: skip
    done = forked(killed, arguments, folder, environment(**KEYS))
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode


@pytest.mark.slow  # two chains of kills, each a process of its own
@pytest.mark.parametrize(
    ("provider", "moments"), [("openai", MOMENTS), ("anthropic", ("submitted", "never"))]
)
def test_a_run_killed_at_every_step_of_a_batch_sends_nothing_twice(
    tmp_path: Path, provider: str, moments: tuple[str, ...]
) -> None:
    with WireServer() as server:
        server.batches.foreign = 1
        codes = [started(tmp_path, server, provider, moment) for moment in moments]
        ours = [batch for batch in server.batches.made if "other" not in batch.id]
    assert codes == [-signal.SIGKILL] * (len(moments) - 1) + [0]
    sizes = [len(batch.requests) for batch in ours]
    assert sizes[0] == 12
    assert sum(sizes) == 24, "nothing is sent twice, however the second round is divided"
    run = tmp_path / "run"
    assert rows(run, "select status, count(*) from dialogues group by 1") == [("generated", 12)]
    assert rows(run, "select code, count(*) from requests group by 1") == [("ok", 24)]
    assert rows(run, "select count(*) from reservations") == [(0,)]
