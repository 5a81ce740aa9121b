"""A strategy that a plugin brings: what it returns is looked at before it is stored."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.calls.asking import ScriptTask, TurnTask
from pipeline.strategies.protocol import ScriptStrategy, Spoken, Strategy
from scenarios.dialogue import Draft
from scenarios.foreign_records import check_labels, checked_record
from scenarios.schemes.model import Scheme


@dataclass(frozen=True, slots=True)
class ForeignStrategy:
    """Utters as a strategy of a plugin does; what nobody could read again fails the case."""

    strategy: Strategy
    scheme: Scheme
    who: str
    """What it is called where it fails a case."""

    async def utter(self, task: TurnTask) -> Spoken:
        """Produce one utterance.

        Raises:
            TypeError: it is no utterance with a trace, or a field of it is of another type.
            ValueError: it has no words, or a label that the scheme does not know.
        """
        return checked(await self.strategy.utter(task), self.scheme, self.who)


@dataclass(frozen=True, slots=True)
class ForeignScript:
    """Writes dialogues as a strategy of a plugin does; otherwise as :class:`ForeignStrategy`."""

    strategy: ScriptStrategy
    scheme: Scheme
    who: str
    """What it is called where it fails a case."""

    async def script(self, task: ScriptTask) -> tuple[Spoken, ...]:
        """Produce every turn that nobody has fixed; raises what ``ForeignStrategy.utter`` does."""
        spoken = await self.strategy.script(task)
        if len(spoken) != len(task.view.written):
            wanted = len(task.view.written)
            raise ValueError(f"{self.who} returned {len(spoken)} turns, expected {wanted}")
        return tuple(checked(one, self.scheme, self.who) for one in spoken)


def foreign(
    name: str, strategy: Strategy | ScriptStrategy, scheme: Scheme, *, knows_all: bool
) -> ForeignStrategy | ForeignScript:
    """Return a strategy of a plugin with its results looked at.

    Raises:
        TypeError: it has not the method that its declaration (``knows_all``) promises.
    """
    who = f"the strategy {name!r}"
    if isinstance(strategy, ScriptStrategy) and knows_all:
        return ForeignScript(strategy, scheme, who)
    if not knows_all and hasattr(strategy, "utter") and not isinstance(strategy, ScriptStrategy):
        return ForeignStrategy(strategy, scheme, who)
    method = "script" if knows_all else "utter, and without script (knows_all=True)"
    raise TypeError(f"it built {strategy!r:.100}, expected an object with {method}")


def checked(spoken: object, scheme: Scheme, who: str) -> Spoken:
    """Return what a strategy returned, if it can be stored.

    Raises:
        TypeError: it is no utterance with a trace, or a field of it is of another type.
        ValueError: it has no words, a label that the scheme does not know, or chose what is not there.
    """
    said = checked_record(Spoken, spoken, who)
    draft, trace = said.draft, said.trace
    if not draft.text.strip():
        raise ValueError(f"{who} returned an utterance without words")
    tried = len(trace.candidates or trace.attempts)
    if tried and not 0 <= trace.chosen < tried:
        raise ValueError(f"{who} chose draft {trace.chosen} of {tried}, counted from 0")
    versions = [*(one.draft for one in trace.candidates), *(one.draft for one in trace.attempts)]
    for version in (draft, *versions):
        if version is not None:
            _check_draft(version, scheme, who)
    return said


def _check_draft(draft: Draft, scheme: Scheme, who: str) -> None:
    labels = [(label.dimension, label.value) for label in draft.tactic]
    if scheme.assigned and draft.goal != "":
        labels.append((scheme.assigned, draft.goal))
    check_labels(scheme, labels, who, others=False)
    named = [dimension for dimension, _ in labels]
    if twice := [name for name in named if named.count(name) > 1]:
        raise ValueError(f"{who} labelled {twice[0]} twice")
