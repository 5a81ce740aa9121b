"""What verifying a run takes, judge by judge; how it is estimated, see :mod:`hipo.app.estimates.judging`."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from hipo.app.estimates.playing import BYTES_PER_TOKEN, total_cost
from scenarios.plural import plural

if TYPE_CHECKING:
    from quality.judges.protocol import JudgeIdentity

SAMPLE = 24
"""Dialogues whose prompts are rendered to estimate the length of all."""

NOTE = (
    f"tokens are estimated from the prompts of {SAMPLE} dialogues at {BYTES_PER_TOKEN} bytes each, "
    "and answers at their usual length; dialogues that say the same share what is answered, so fewer "
    "calls are possible, a model that reasons at length takes more, and repairs or retries can add some"
)


_STEP = 1024
_SPARE = 1.25
"""Room above the estimate that is advised: models differ in how much they write."""


@dataclass(frozen=True, slots=True)
class LongestAnswer:
    """The longest answer of a judge that is asked once about a dialogue."""

    lines: int
    """Labelled utterances of the dialogue."""
    tokens: int
    """About how many it has."""
    allowed: int
    """How many it may have."""

    @property
    def advised(self) -> int | None:
        """How many it should be allowed to have; None: it has room."""
        return None if self.tokens <= self.allowed else _STEP * ceil(_SPARE * self.tokens / _STEP)


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """What one judge will be asked."""

    seat: JudgeIdentity
    dialogues: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """None: no price is known."""
    longest_answer: LongestAnswer | None = None
    """None of judges that are asked utterance by utterance or cut nothing, and where nothing is asked."""
    worst_usd: float = 0.0
    """The most that one request can cost; 0 without a price, and where nothing is asked."""
    worst_tokens: int = 0
    """The most that one request can use."""


@dataclass(frozen=True, slots=True)
class JudgingEstimate:
    """What verifying takes, judge by judge."""

    dialogues: int
    """Those that are generated, and those of the plan."""
    judges: tuple[JudgeEstimate, ...]
    anew: int = 0
    """Dialogues that are judged again, since a judge was asked otherwise."""
    labelled_anew: int = 0
    """Dialogues that are labelled again, since a juror was asked otherwise."""
    rounds: int = 1
    """Questions left about a dialogue that wait for each other; in batches all others are asked at once."""

    @property
    def calls(self) -> int:
        """Calls of all judges together."""
        return sum(judge.calls for judge in self.judges)

    @property
    def cost_usd(self) -> float | None:
        """Dollars for everything; None if any judge has no price."""
        return total_cost(judge.cost_usd for judge in self.judges if judge.calls)


def anew_in_words(dialogues: int, *, by_jurors: bool = False) -> str:
    """Return what is said where dialogues are judged, or labelled by jurors, again."""
    were, are = ("was", "is") if dialogues == 1 else ("were", "are")
    done, who = ("labelled", "jurors") if by_jurors else ("judged", "judges")
    return (
        f"{plural(dialogues, 'dialogue')} {were} {done} in another way before (model, parameters,"
        f" prompts, or what hipo tells {who}) and {are} {done} again; what was found is kept"
    )
