"""Look at the provider for a batch that was perhaps sent: nobody heard whether it arrived."""

from __future__ import annotations

from pipeline.batches.surroundings import Surroundings
from pipeline.providers.batch_api import StillUnknown
from pipeline.providers.errors import ProviderError
from pipeline.store.batches import BatchRow
from scenarios.errors import UsageError
from scenarios.plural import plural


async def look_for(around: Surroundings, row: BatchRow, settle_s: float) -> str | None:
    """Return what the provider calls a batch that may have arrived; None where it surely did not.

    How long it is looked for is counted from now on, by the clock that only goes forward: that of
    the machine may have been set since the batch was written down.

    Args:
        around: of the batch.
        row: the batch as it is written down.
        settle_s: seconds after which a list without it proves that it did not arrive.

    Raises:
        UsageError: the provider cannot be asked, or will never be able to tell.
        Stopped: the run leaves.
    """
    calls, rules = around.calls, around.rules
    known = {other.remote for other in around.log.rows() if other.remote is not None}
    since = min(row.intended_at, around.clock())
    begun, pause_s, told = calls.clock(), rules.first_poll_s, False
    while True:
        settled = calls.clock() - begun >= settle_s
        try:
            remote = await calls.insist(
                lambda: around.api.find(row.token, row.requests, since, known)
            )
        except StillUnknown as unknown:
            if settled and unknown.lasting:
                raise _undecided(around, row, unknown) from unknown
        except ProviderError as error:  # it may be there, and is paid for then
            raise out_of_reach("a batch that was perhaps sent", error) from error
        else:
            if remote is not None or settled:
                return remote
        if not told:
            around.notice(
                f"{around.model}: looking for a batch of {plural(row.requests, 'request')} that was"
                " perhaps sent; nothing is sent again before that is settled"
            )
            told = True
        await calls.pause(pause_s)
        pause_s = min(1.5 * pause_s, rules.poll_s)


def out_of_reach(which: str, error: ProviderError) -> UsageError:
    """Return the error for a batch that the provider does not let us look at."""
    return UsageError(
        f"{which} cannot be asked about: {error.message}",
        "what is there stays at the provider; mend what it says and give the same command",
    )


def _undecided(around: Surroundings, row: BatchRow, unknown: StillUnknown) -> UsageError:
    return UsageError(
        f"whether a batch of {plural(row.requests, 'request')} for {around.model} arrived cannot be"
        f" told: {unknown}",
        "look at the provider's page; hipo runs drop-batches gives it up and charges it at its worst",
    )
