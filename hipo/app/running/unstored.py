"""Say at the end of a run which replies could not be stored."""

from __future__ import annotations

from pipeline.playing.runner import RunOutcome
from pipeline.stopping.stop import STORE
from pipeline.store.calls import CallLog


def tell_unstored(calls: CallLog, outcome: RunOutcome) -> None:
    """Try once more to store the replies that could not be, and name those that still cannot be.

    Their requests stay reserved in the run: the next time it is opened they are charged at their
    worst, and the replies are asked for again.
    """
    lost = calls.store_unstored()
    if lost:
        outcome.stop_code = outcome.stop_code or STORE
        # What costs nothing, as what rules say does, was not paid; a price that is not known may be one.
        paid = "paid " * any(request.cost_usd != 0 for call in lost for request in call.requests)
        replies = f"{len(lost):,} {paid}{'reply' if len(lost) == 1 else 'replies'}"
        told = f"{replies} could not be stored and will be asked for again"
        outcome.stopped = f"{outcome.stopped}; {told}" if outcome.stopped else told
