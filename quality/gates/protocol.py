"""Gates: rules that need no model. What they are given, what they return, how one is declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

from pydantic import Field

from scenarios.conversation import Length
from scenarios.dialogue import Dialogue, Turn
from scenarios.errors import UsageError
from scenarios.flow import wanted_lengths
from scenarios.plugins import PointName
from scenarios.schemes.model import Scheme
from scenarios.spec import Fact, Scenario
from scenarios.strict import Strict
from scenarios.terms import LabelValue
from scenarios.verdicts import Flag
from scenarios.wording import words

if TYPE_CHECKING:
    from pipeline.vectors import Vector

Share = Annotated[float, Field(gt=0, le=1)]


@dataclass(frozen=True)
class GatedDialogue:
    """A dialogue under test. Nothing in it has to be complete: dialogues may be imported."""

    dialogue: Dialogue
    scenario: Scenario | None
    """With the names that the dialogue was made with; None where nobody knows it."""
    scheme: Scheme

    @cached_property
    def improvised(self) -> tuple[Turn, ...]:
        """The turns that somebody made up, without the fixed opening."""
        return tuple(turn for turn in self.dialogue.turns if turn.kind == "improvised")

    @property
    def improvised_text(self) -> str:
        """What is compared with other dialogues: what was improvised, one line per turn."""
        return "\n".join(turn.text for turn in self.improvised)

    @cached_property
    def improvised_words(self) -> tuple[str, ...]:
        """The words of what was improvised, as :func:`~scenarios.wording.words` finds them."""
        return tuple(chain.from_iterable(words(turn.text) for turn in self.improvised))

    @cached_property
    def answers(self) -> tuple[Turn, ...]:
        """The improvised turns of the roles whose words are labelled."""
        return self.dialogue.answers()

    @cached_property
    def fact(self) -> Fact | None:
        """The private fact of the case, if the scenario has it."""
        known = self.scenario.facts if self.scenario else ()
        return next((fact for fact in known if fact.id == self.dialogue.case.fact), None)

    @cached_property
    def private(self) -> tuple[Fact, ...]:
        """What one of the people alone knows: with a flow all facts, else the fact of the case."""
        if self.scenario is not None and self.scenario.flow:
            return self.scenario.facts
        return () if self.fact is None else (self.fact,)

    @property
    def language(self) -> str:
        """The code of the language that is to be spoken, without its region."""
        return self.dialogue.case.language.replace("_", "-").split("-")[0].casefold()

    def wanted_length(self, turn: Turn) -> Length | None:
        """Return how long its scenario wants a turn; None where it leaves that to the gates."""
        return self._lengths.get(turn.index)

    @cached_property
    def _lengths(self) -> dict[int, Length]:
        if self.scenario is None:
            return {}
        try:
            return dict(enumerate(wanted_lengths(self.scenario, self.dialogue.case)))
        except UsageError:  # imported: it did not go through the flow
            return {}

    def flag(
        self, code: str, reason: str, turn: Turn | None = None, severity: float | None = None
    ) -> Flag:
        """Return a flag on this dialogue, or on one of its turns."""
        case = self.dialogue.case.id
        index = None if turn is None else turn.index
        return Flag(case, self.dialogue.arm, index, code, reason, severity)


class Gate(Protocol):
    """A rule that needs no model: it looks at one dialogue by itself, and remembers nothing."""

    @property
    def code(self) -> str:
        """The code of the flags it raises; the name of the gate."""

    def check(self, subject: GatedDialogue) -> Sequence[Flag]:
        """Return a flag for every place that breaks the rule."""


@runtime_checkable
class RunGate(Protocol):
    """A rule that compares each dialogue with those before it; one object goes through a run."""

    @property
    def code(self) -> str:
        """The code of the flags it raises; the name of the gate."""

    def add_and_check(self, subject: GatedDialogue, vector: Vector | None) -> Sequence[Flag]:
        """Remember a dialogue, and return its flags.

        Args:
            subject: the dialogue; dialogues come in the order of the run.
            vector: the unit-length embedding of what was improvised, shape ``(dim,)``; None
                where there is no encoder.
        """


class NoSettings(Strict):
    """The settings of a gate that has none."""


@runtime_checkable
class SparingGate(RunGate, Protocol):
    """A gate that compares embeddings, and says which it needs: the others are not computed."""

    def to_embed(self, subject: GatedDialogue) -> Sequence[tuple[str, str]]:
        """Return (case, text) of what is to be embedded, the dialogue itself last; or nothing.

        Asked about every dialogue in the order of the run, before :meth:`add_and_check`.
        """

    def remember_meaning(self, case: str, vector: Vector) -> None:
        """Take the embedding of an earlier dialogue that :meth:`to_embed` named."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """What was embedded for the sake of one dialogue."""

    vector: Vector | None = None
    """Of the dialogue itself; None where nothing needs it."""
    earlier: tuple[tuple[str, Vector], ...] = ()
    """(case, vector) of dialogues before it that nothing needed until now."""


S = TypeVar("S", bound=Strict)


@dataclass(frozen=True, slots=True)
class GateExtension(Generic[S]):
    """A gate by its name, with the settings a recipe may give it."""

    point: ClassVar[PointName] = "gate"
    name: str
    """The code of its flags."""
    settings: type[S]
    build: Callable[[S], Gate | RunGate]
    embeds: bool = False
    """Whether it wants an embedding of each dialogue, where an encoder is installed."""
    reads: Callable[[str], bool] | None = None
    """Whether it can find anything in a language (its code without a region); None: in any."""


def carries(value: LabelValue | None, labels: Sequence[str]) -> bool:
    """Whether a label, or one of several, is among ``labels``."""
    if isinstance(value, tuple):
        return any(one in labels for one in value)
    return value in labels


def label_of(turn: Turn, dimension: str) -> LabelValue | None:
    """Return the label a turn declares for a dimension, or None."""
    return next((label.value for label in turn.tactic if label.dimension == dimension), None)


def quoted(text: str, limit: int = 60) -> str:
    """Return the beginning of a text in quotes, on one line."""
    flat = " ".join(text.split())
    return f'"{flat}"' if len(flat) <= limit else f'"{flat[: limit - 3].rstrip()}..."'
