"""The interface of an observer of a run: progress, spending, messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pipeline.endpoints.run_link import LocalRun
    from pipeline.playing.runner import Progress
    from pipeline.spending.budget import Ledger
    from pipeline.stopping.awaited import Wait


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run has used so far, over its whole life."""

    tokens: int
    cost_usd: float | None
    """None where a model without a price is involved."""
    requests_per_s: float | None = None
    """To how many requests per second an endpoint holds the run back, if it does."""
    calls_in_flight: int = 0
    """Requests that are sent and not answered yet."""
    doing: str = "playing"
    """What is done with dialogues at the moment, in a word or two."""
    before: tuple[int, float] = (0, 0.0)
    """The part of tokens and cost that was used before this command, where that is told apart."""
    waits_for: Wait | None = None
    """The endpoint that is away, if any is: that for longest."""
    waited_s: float = 0.0
    """Seconds in which any endpoint was away."""

    @property
    def own_tokens(self) -> int:
        """Tokens of this command."""
        return self.tokens - self.before[0]

    @property
    def own_cost_usd(self) -> float | None:
        """Cost of this command; None where it is unknown."""
        return None if self.cost_usd is None else max(0.0, self.cost_usd - self.before[1])


def spent(
    ledger: Ledger,
    link: LocalRun,
    *,
    priced: bool,
    doing: str = "playing",
    before: tuple[int, float] = (0, 0.0),
) -> Spending:
    """Return what a run has used by now.

    Args:
        ledger: the budget of the run.
        link: the run as the clients of the command see it.
        priced: whether every model that is asked has a price.
        doing: what is done with dialogues at the moment.
        before: tokens and cost of earlier commands, where they are told apart.
    """
    usd = ledger.spent_usd if priced else None
    stop = link.stop
    return Spending(
        ledger.spent_tokens,
        usd,
        link.held_back_to,
        stop.in_flight.count,
        doing,
        before,
        stop.awaited.longest,
        stop.awaited.waited_s,
    )


def spent_on_judging(ledger: Ledger, link: LocalRun, *, priced: bool) -> Callable[[], Spending]:
    """Return what tells the spending of a command that judges, apart from all before it.

    Args:
        ledger: the budget of the run.
        link: the run as the clients of the command see it.
        priced: whether every model that judges has a price.
    """
    before = (ledger.spent_tokens, ledger.spent_usd)

    return lambda: spent(ledger, link, priced=priced, doing="judging", before=before)


class Watcher(Protocol):
    """Somebody who watches a run."""

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        """The run starts: so many dialogues are planned."""

    def see(self, progress: Progress) -> None:
        """Something has become durable."""

    def note(self, message: str) -> None:
        """Something happened that people want to know."""

    def warn(self, message: str) -> None:
        """What a run waits for: people want to know even where they asked for quiet."""

    def end(self) -> None:
        """The run is over, however it ended."""


@contextmanager
def watched(watcher: Watcher, total: int, spending: Callable[[], Spending]) -> Iterator[None]:
    """Tell a watcher that what is inside starts, and that it is over, however it ended."""
    watcher.begin(total, spending)
    try:
        yield
    finally:
        watcher.end()


class Silent:
    """Watches without a word."""

    def begin(self, total: int, spending: Callable[[], Spending]) -> None:
        """Say nothing."""

    def see(self, progress: Progress) -> None:
        """Say nothing."""

    def note(self, message: str) -> None:
        """Say nothing."""

    def warn(self, message: str) -> None:
        """Say as much as of any note."""
        self.note(message)

    def end(self) -> None:
        """Say nothing."""
