"""A run on disk, for Python: where it stands, its dialogues, and what judges made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hipo.app.options.values import check_named
from hipo.app.runs.folders import find_run
from pipeline.chunks import chunks
from pipeline.store.queries.endings import CaseStatus, Ending
from pipeline.store.queries.status import RunState
from pipeline.store.run_state import read_run_state
from pipeline.store.run_store import RunStore
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.verdicts import Decision, Flag, Judgement, Verdict

if TYPE_CHECKING:
    import pandas as pd

    from hipo.app.runs.frames import FrameRows
    from outputs.selecting.wish import WantedVerdict
    from pipeline.playing.runner import RunOutcome

_PAGE = 256


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """What judges, rules and people made of one dialogue."""

    ending: Ending
    judgements: tuple[Judgement, ...]
    flags: tuple[Flag, ...]
    decisions: tuple[Decision, ...]
    """Oldest first; the newest counts."""

    @property
    def verdict(self) -> Verdict | None:
        """``accepted``, ``discarded`` or ``pending``; None: nobody has decided yet."""
        return self.decisions[-1].verdict if self.decisions else None


@dataclass(frozen=True, slots=True)
class Run:
    """A run on disk."""

    folder: Path

    def __post_init__(self) -> None:
        """Take the folder as a text, too."""
        object.__setattr__(self, "folder", Path(self.folder))

    def state(self) -> RunState:
        """Return where the run stands; what its recipe plans counts, not only what was begun."""
        return read_run_state(self.folder)

    def dialogues(self, *, arm: str | None = None, traces: bool = True) -> Iterator[Dialogue]:
        """Yield the generated dialogues in the order of their cases, in constant memory.

        Args:
            arm: the id of one arm; None is all.
            traces: whether turns come with the candidates or attempts they were chosen from.
        """
        with RunStore.open(self.folder, readonly=True) as store:
            yield from store.reader.dialogues(arm=arm, traces=traces)

    def endings(self, *, status: CaseStatus | None = None) -> Iterator[Ending]:
        """Yield how every case that was played ended, failures and their reasons included.

        Raises:
            UsageError: there is no such status.
        """
        if status is not None:
            check_named("status", status, CaseStatus)
        with RunStore.open(self.folder, readonly=True) as store:
            yield from store.reader.endings(status=status)

    def dialogue(self, dialogue_id: str) -> Dialogue:
        """Return one dialogue by its id ``case/arm``, or by unambiguous beginnings of both.

        Raises:
            UsageError: none or several dialogues have this id, or the case failed.
        """
        with RunStore.open(self.folder, readonly=True) as store:
            return store.reader.dialogue(dialogue_id)

    def verdicts(self) -> Iterator[VerdictRecord]:
        """Yield the judgements, flags and decisions of every dialogue, in the order of the cases."""
        with RunStore.open(self.folder, readonly=True) as store:
            for page in chunks(store.reader.endings(status="generated"), _PAGE):
                yield from _verdicts(store, page)

    def to_pandas(
        self, rows: FrameRows = "turns", *, verdict: WantedVerdict = "any"
    ) -> pd.DataFrame:
        """Return the run as a data frame, with the columns of ``hipo export --to turns``.

        Example::

            turns = open_run("runs/trial").to_pandas()
            print(turns.groupby("goal")["label_veracity"].value_counts())

        Args:
            rows: ``turns``, a row a turn, flat; or ``dialogues``, a row a dialogue, with lists and
                dictionaries in cells.
            verdict: ``any``, or ``accepted`` for accepted dialogues alone.

        Raises:
            UsageError: pandas is missing, or there is no such run.
        """
        from hipo.app.runs.frames import frame_of  # noqa: PLC0415 - brings what exports need

        return frame_of(self.folder, rows, verdict)

    def verdict(self, dialogue_id: str) -> VerdictRecord:
        """Return the judgements, flags and decisions of one dialogue, see :meth:`dialogue`.

        Raises:
            UsageError: none or several dialogues have this id, or the case failed.
        """
        with RunStore.open(self.folder, readonly=True) as store:
            return next(_verdicts(store, [_generated(store, dialogue_id)]))

    def decide(self, dialogue_id: str, verdict: Verdict, note: str) -> VerdictRecord:
        """Overrule what was decided on a dialogue, as an expert; nothing is deleted.

        Raises:
            UsageError: there is no reason in ``note``, no such verdict or dialogue, or its case
                failed.
        """
        check_named("verdict", verdict, Verdict)
        if not note.strip():
            raise UsageError("a verdict of an expert needs a reason", "give it with --note")
        with RunStore.open(self.folder) as store:
            ending = _generated(store, dialogue_id)
            reason = "overruled by an expert"
            decision = Decision(ending.case.id, ending.arm, verdict, "expert", reason, note.strip())
            store.judgements.decide_now(decision)
            return next(_verdicts(store, [ending]))


@dataclass(frozen=True, slots=True)
class GeneratedRun(Run):
    """A run on disk, and what generating it has just done."""

    outcome: RunOutcome
    """What was done; ``stopped`` says why it ended early, if it did."""
    calls: int
    """Requests that were sent."""


RunLike = Run | str | Path
"""A run, its folder, or its name under ``./runs``."""


def open_run(run: str | Path) -> Run:
    """Return a run that was made before.

    Example::

        run = open_run("runs/trial")
        print(run.state().generated, [turn.text for turn in run.dialogue("8af4").turns])

    Args:
        run: its folder, or its name under ``./runs``.

    Raises:
        UsageError: there is no such run; says the nearest name.
    """
    return Run(folder_of(run))


def folder_of(run: RunLike) -> Path:
    """Return the folder of a run.

    Raises:
        UsageError: there is no such run; says the nearest name.
    """
    return run.folder if isinstance(run, Run) else find_run(str(run))


def _generated(store: RunStore, dialogue_id: str) -> Ending:
    ending = store.reader.ending(dialogue_id)
    if ending.status == "failed":
        raise UsageError(f"{ending.id} failed ({ending.code}): there is nothing to decide on")
    return ending


def _verdicts(store: RunStore, endings: list[Ending]) -> Iterator[VerdictRecord]:
    keys = [(ending.case.id, ending.arm) for ending in endings]
    judgements = store.judgements.judgements(keys)
    assessments = store.judgements.assessments(keys)
    decisions = store.judgements.decisions(keys)
    for ending, key in zip(endings, keys, strict=True):
        yield VerdictRecord(
            ending,
            tuple(judgements.get(key, ())),
            assessments[key].flags if key in assessments else (),
            tuple(decisions.get(key, ())),
        )
