"""A strategy that a plugin brings: what it returns is looked at before it is stored."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.asking import ScriptTask, TurnTask
from pipeline.strategies.protocol import ScriptStrategy, Spoken, Strategy
from scenarios.dialogue import Draft, Trace
from scenarios.schemes.model import Scheme
from scenarios.schemes.vocabulary import resolve_label


@dataclass(frozen=True, slots=True)
class ForeignStrategy:
    """Utters as a strategy of a plugin does; what nobody could read again fails the case."""

    strategy: Strategy
    scheme: Scheme

    async def utter(self, task: TurnTask) -> Spoken:
        """Produce one utterance.

        Raises:
            TypeError: it is no utterance with a trace.
            ValueError: it has no words, or a label that the scheme does not know.
        """
        return checked(await self.strategy.utter(task), self.scheme)


@dataclass(frozen=True, slots=True)
class ForeignScript:
    """Writes dialogues as a strategy of a plugin does; otherwise as :class:`ForeignStrategy`."""

    strategy: ScriptStrategy
    scheme: Scheme

    async def script(self, task: ScriptTask) -> tuple[Spoken, ...]:
        """Produce every turn that nobody has fixed; raises what ``ForeignStrategy.utter`` does."""
        return tuple(checked(spoken, self.scheme) for spoken in await self.strategy.script(task))


def foreign(strategy: Strategy | ScriptStrategy, scheme: Scheme) -> ForeignStrategy | ForeignScript:
    """Return a strategy of a plugin with its results looked at."""
    if isinstance(strategy, ScriptStrategy):
        return ForeignScript(strategy, scheme)
    return ForeignStrategy(strategy, scheme)


def checked(spoken: object, scheme: Scheme) -> Spoken:
    """Return what a strategy returned, if it can be stored.

    Raises:
        TypeError: it is no utterance with a trace.
        ValueError: it has no words, a label that the scheme does not know, or chose what is not there.
    """
    if (
        not isinstance(spoken, Spoken)
        or not isinstance(spoken.draft, Draft)
        or not isinstance(spoken.trace, Trace)
        or not isinstance(spoken.draft.text, str)
    ):
        raise TypeError(
            f"the strategy returned {spoken!r:.200}: not a Spoken of a Draft and a Trace"
        )
    draft, trace = spoken.draft, spoken.trace
    if not draft.text.strip():
        raise ValueError("the strategy returned an utterance without words")
    tried = len(trace.candidates or trace.attempts)
    if tried and not 0 <= trace.chosen < tried:
        raise ValueError(f"the strategy chose draft {trace.chosen} of {tried}, counted from 0")
    dimensions = {dimension.id: dimension for dimension in scheme.dimensions}
    for label in draft.tactic:
        dimension = dimensions.get(label.dimension)
        found = None if dimension is None else resolve_label(dimension, label.value)
        if found is None or found[1]:
            raise ValueError(
                f"the strategy declared {label.dimension} {label.value!r}, which the scheme"
                f" {scheme.name} does not know"
            )
    return spoken
