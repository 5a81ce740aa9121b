"""An endpoint that fails in six ways: every case ends generated, or failed with its reason."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from hipo.app.models import endpoints
from hipo.cli.main import run as run_command
from pipeline.providers.retry import RetryPolicy
from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import rows
from tests.wire.faults import Faults
from tests.wire.server import WireServer

FAULTS = Faults(
    rates={
        "rate_limited": 0.20,
        "server_error": 0.05,
        "broken_json": 0.05,
        "unknown_label": 0.03,
        "hang": 0.02,
        "empty_choices": 0.01,
    },
    retry_after="0",
    hang_s=20.0,
    seed=5,
    script=("empty_choices",),  # so rare that it may strike nobody
)


def test_every_case_ends_generated_or_failed_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(endpoints, "RetryPolicy", partial(RetryPolicy, initial_s=0.05))
    with WireServer(faults=FAULTS) as server:
        hipo_command = (
            "generate", "--model", "compatible/rules", "--base-url", server.openai_url,
            "--scenarios", "all", "-n", "30", "--turns", "1,2", "--strategy", "direct,consistency",
            "--max-concurrency", "16", "--timeout", "1", "-o", "run",
        )  # fmt: skip
        code = run_command(hipo_command)
        struck = {seen.fault for seen in server.seen}
    assert code in (0, 1), capsys.readouterr().err
    assert struck >= set(FAULTS.rates)
    state = Hipo(tmp_path).state("run")
    failed = sum(state["failed"].values())
    assert state["generated"] + failed == state["planned"] == 60
    assert state["pending"] == 0
    assert (code == 1) == (failed > 0)
    assert state["generated"] >= 57
    run = tmp_path / "run"
    assert rows(run, "select count(*) from dialogues where status = 'failed' and reason = ''") == [
        (0,)
    ]
    codes = {code for (code,) in rows(run, "select distinct code from requests")}
    assert codes >= {"ok", "rate_limited", "server_fault", "timeout", "empty_reply"}
