"""Results that come late, or never: nothing that is paid for is thrown away or counted as free."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from hipo.app.generation.generate import generate
from tests.pipeline.batches.runs import assert_whole, recipe
from tests.pipeline.integration.records import rows
from tests.wire.batches import BatchFaults
from tests.wire.server import WireServer


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_results_that_are_not_all_there_at_once_are_asked_for_again(
    server: WireServer, tmp_path: Path, provider: str
) -> None:
    server.batches.faults = BatchFaults(late=2)
    generate(recipe(server, provider), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    sizes = [len(batch.requests) for batch in server.batches.made]
    assert sizes[0] == 12
    assert sum(sizes) == 24, "nothing is asked twice, however the second round is divided"
    assert rows(tmp_path / "run", "select count(*) from requests") == [(24,)]


@pytest.mark.usefixtures("patient")
def test_the_results_of_a_batch_that_expired_are_waited_for_too(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.faults = BatchFaults(end="expired", processed=0.5, late=2)
    generate(recipe(server, limits={"max_attempts": 50}), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    codes = rows(tmp_path / "run", "select code, sum(charged_usd) > 0 from requests group by 1")
    assert codes == [("not_processed", 0), ("ok", 1)]


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_processed_requests_whose_results_never_come_count_at_their_worst(
    server: WireServer, tmp_path: Path, end: Literal["expired", "cancelled"]
) -> None:
    server.batches.faults = BatchFaults(end=end, late=10_000, once=True)
    run = tmp_path / "run"
    for _ in range(2 if end == "cancelled" else 1):
        generate(recipe(server), output=run)
    lost = "select count(*), min(charged_usd) > 0 from requests where code = 'server_fault'"
    assert rows(run, lost) == [(12, 1)]
    outcomes = [outcome for (outcome,) in rows(run, "select outcome from batches order by seq")]
    assert outcomes[0] == f"{end} (results lacking)"
    assert rows(run, "select count(*) from dialogues where status = 'generated'") == [(12,)]
