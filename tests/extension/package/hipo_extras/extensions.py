"""One extension of every kind, as somebody else would write them: nothing of hipo is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from outputs.dataset.columns import PROVENANCE, TURN, Reading, Row, provenance
from outputs.dataset.manifest import Column, ExportedFile
from outputs.formats.registry import FORMATS
from outputs.formats.shape import Prompt, RowFormat, split_prompt
from outputs.kinds.export_kind import ExportKind, ExportOptions, ExportTask
from outputs.selecting.selection import SelectedDialogue
from pipeline.calls.asking import Asker, TurnTask
from pipeline.critics.registry import CriticExtension
from pipeline.expected_calls import answer_calls
from pipeline.providers.offline import OfflineProvider
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.registry import ProviderExtension
from pipeline.strategies.protocol import Spoken
from pipeline.strategies.registry import StrategyExtension
from prompts.actors import ActorPrompts
from prompts.question import Message
from prompts.tasks.model import Sees, Task
from quality.gates.protocol import GatedDialogue, GateExtension
from quality.judges.protocol import JudgeExtension, JudgeIdentity, Questions
from scenarios.dialogue import Attempt, Critique, Dialogue, Draft, Trace
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.strict import Strict
from scenarios.verdicts import Flag, Judgement


class TwiceSettings(Strict):
    """How often an answer is asked for."""

    times: Annotated[int, Field(ge=1, le=5)] = 2


@dataclass(frozen=True)
class Twice:
    """Asks several times and says the last answer."""

    prompts: ActorPrompts
    asker: Asker
    times: int

    async def utter(self, task: TurnTask) -> Spoken:
        """Ask, and keep every answer in the trace."""
        drafts = [
            await self.asker.ask(
                self.prompts.responder(task.view, task.history, task.wanted),
                task.context(f"answer-{time}"),
            )
            for time in range(self.times)
        ]
        trace = Trace("twice", attempts=tuple(map(Attempt, drafts)), chosen=len(drafts) - 1)
        return Spoken(drafts[-1], trace)


class Brevity:
    """Objects to answers of more than twenty words."""

    async def critique(self, task: TurnTask, draft: Draft, revision: int) -> tuple[Critique, ...]:
        """Say the same of every label."""
        words = len(draft.text.split())
        return tuple(
            Critique(label.dimension, words <= 20, f"{words} words") for label in draft.tactic
        )


class PoliteSettings(Strict):
    """Which words an answer must not hold."""

    forbidden: tuple[str, ...] = ("the",)


@dataclass(frozen=True)
class Polite:
    """Flags answers with forbidden words."""

    forbidden: tuple[str, ...]
    code = "impolite"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag each answer once."""
        return [
            subject.flag(self.code, f"says {word!r}", turn)
            for turn in subject.answers
            for word in [w for w in self.forbidden if w in turn.text.lower().split()][:1]
        ]


@dataclass(frozen=True)
class Lenient:
    """Finds every answer coherent, and asks nobody."""

    asker: Asker
    seat: JudgeIdentity

    async def judge(self, dialogue: Dialogue, scenario: Scenario, epoch: int) -> list[Judgement]:
        """Return one judgement for each answer."""
        questions = Questions(self.asker, self.seat, dialogue, epoch)
        return [
            questions.note(turn.index, "coherence", "coherent", True, "why not")
            for turn in dialogue.answers()
        ]


class Parrot:
    """The rules that ship, behind another name."""

    name = "parrot"
    base_url: str | None = None
    samples_per_request = True

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        max_concurrency: int,
        headers: Mapping[str, str],
    ) -> None:
        self._rules = OfflineProvider()

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """Answer by rules."""
        return await self._rules.send(request, timeout_s)

    async def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class TurnRows:
    """What was asked and answered, in a format of one's choice."""

    row_format: RowFormat
    subset = "answers"
    reading = Reading()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        return (*PROVENANCE, TURN, *self.row_format.example_columns)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield one row for each improvised answer."""
        for selected in batch:
            base = provenance(selected)
            for turn in selected.dialogue.answers():
                asked = selected.dialogue.history(turn.index)[-1][1]
                place = f"{base['case']}/{base['arm']}/{turn.index}"
                learnt = self.row_format.example([Message("user", asked)], turn.text)
                yield {"id": place, **base, "turn": turn.index, **learnt}

    def notes(self) -> tuple[str, ...]:
        """Leave nothing out."""
        return ()


class Lines(RowFormat):
    """Two texts, and a note beside the rows."""

    name = "lines"
    example_columns = (Column("asked", "text", "Before."), Column("said", "text", "After."))

    def example(self, prompt: Prompt, completion: str) -> dict[str, object]:
        """Return both."""
        return {"asked": split_prompt(prompt)[1], "said": completion}

    def companions(self, files: Sequence[ExportedFile], *, pairs: bool) -> Mapping[str, str]:
        """Return a list of the files."""
        return {"files.txt": "\n".join(file.path for file in files)}


def _turn_rows(scheme: Scheme, options: ExportOptions) -> TurnRows:
    return TurnRows(FORMATS.get(options.format))


EXTENSIONS = (
    StrategyExtension(
        "twice",
        "asks several times and says the last answer",
        TwiceSettings,
        build=lambda parts, its: Twice(parts.prompts, parts.asker, its.times),
        calls=lambda its: [answer_calls(its.times)],
    ),
    CriticExtension("brevity", lambda parts: Brevity()),
    GateExtension("impolite", PoliteSettings, lambda its: Polite(its.forbidden)),
    JudgeExtension(
        "lenient", lambda scheme, prompts, asker, seat: Lenient(asker, seat), needs_model=False
    ),
    Task(
        id="veracity-alone",
        title="Veracity",
        about="How a line treats the truth, from the line alone.",
        subject="utterance",
        asks=("veracity",),
        sees=Sees(history="none"),
    ),
    ProviderExtension(name="parrot", build=Parrot, models=("rules", "judge")),
    ExportKind(
        name="answers",
        about="questions and answers",
        tasks=(ExportTask(_turn_rows, options=frozenset({"format"})),),
    ),
    Lines(),
)
