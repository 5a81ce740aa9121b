"""What is said of replies that could not be stored: that they were paid only where they were."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from hipo.app.running.unstored import tell_unstored
from pipeline.playing.runner import RunOutcome
from pipeline.store.call_rows import CallReport
from tests.factories import make_choice_row, make_request_row


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([0.0, 0.0], "2 replies could"),
        ([0.25], "1 paid reply could"),
        ([0.0, None], "2 paid replies could"),
    ],
)
def test_replies_that_are_lost_are_called_paid_where_they_cost_something(
    costs: list[float | None], said: str
) -> None:
    lost = [
        CallReport(b"key", (), [make_request_row(cost_usd=cost)], [make_choice_row()])
        for cost in costs
    ]
    outcome = RunOutcome()
    tell_unstored(SimpleNamespace(store_unstored=lambda: lost), outcome)  # type: ignore[arg-type]
    assert outcome.stopped == f"{said} not be stored and will be asked for again"
    assert outcome.stop_code == "store"
