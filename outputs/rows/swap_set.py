"""Swap items: one line that is a lie under its own fact and none under another.

Scored are lines of which it is written down what they claim: fixed lines and authored ones. Of
other lines nobody knows what else they say that the other fact may make false.

The words of both items are the same, so that whoever reads the words alone is right in one half of
them, whatever the words are. Only who holds them against the fact can do better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from outputs.dataset.columns import (
    PROVENANCE,
    TURN,
    Reading,
    Row,
    label_column,
    left_out_notes,
    provenance,
)
from outputs.dataset.manifest import Column
from outputs.dataset.scenes import SCENE, Scenes
from outputs.kinds.export_kind import ExportKind, ExportTask
from outputs.selecting.left_out import LIES_LEFT_OUT, NO_LIE
from outputs.selecting.selection import SelectedDialogue
from scenarios.dialogue import Turn
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.graph import KnowledgeGraph
from scenarios.lines.claims import claims_made
from scenarios.schemes.misleading import ruled_out_by_truth
from scenarios.schemes.model import Scheme

Shown = Literal["own", "other", "none"]
Status = Literal["scored", "unchecked", "unresolved", "not scored"]
_OWN = (
    Column("line", "text", "Names the line: its items differ in the fact that is shown alone."),
    Column("shown", "text", "own: the fact of its speaker; other: another one; none: no fact."),
    Column("fact_shown", "text", "The id of the fact that is shown; null: none is."),
    Column("fact_about", "text", "What the fact that is shown concerns; null: none is."),
    Column("fact_text", "text", "The fact that is shown; null: none is."),
    Column("question", "text", "What was said just before."),
    Column("utterance", "text", "The line."),
    Column("claims", "texts", "What the line claims, or, where nobody wrote that down, may claim."),
    Column(
        "status",
        "text",
        "scored; unchecked: nobody wrote down what the line claims; unresolved: who judged it with"
        " the own fact did not find the lie; not scored: no fact.",
    ),
)


@dataclass(frozen=True, slots=True)
class _Lie:
    """A line that is false under the fact of its speaker."""

    selected: SelectedDialogue
    turn: Turn
    claims: tuple[str, ...]
    """The claims it makes or, if nobody wrote that down, all that its fact makes false."""
    written: bool
    """Whether what it claims was written down."""
    found: bool
    """Whether nobody judged it, or an expert or, without one, a judge found the lie."""


@dataclass
class SwapRows:
    """Three items per lie: with its fact, with another fact that leaves it open, and with none.

    What a line claims is written down for fixed lines and authored ones. Of other lines an expert,
    or a judge who has not seen the declared label, must have found the lie; such a line may make
    any claim that its fact makes false, so the other fact has to leave all of them open. What else
    it says may still be false under the other fact: it is not scored.

    What the claims decide is that the line is no lie under the other fact. It may be a half-truth
    there or beside the point, so that no other label than that of lies is ruled out.
    """

    scheme: Scheme
    subset: str = field(default="swap", init=False)
    reading: Reading = field(default=Reading(), init=False)
    _texts: set[tuple[str, str]] = field(default_factory=set, init=False)
    _left_out: Counter[str] = field(default_factory=Counter, init=False)
    _scenes: Scenes = field(default_factory=Scenes, init=False)
    _liars: set[str] = field(default_factory=set, init=False)
    """Arms of the latest batch that lied."""

    def __post_init__(self) -> None:
        """Find the label that whoever is truthful cannot have."""
        self.dimension, self.false = next(ruled_out_by_truth(self.scheme), ("", ""))
        if not self.dimension:
            raise UsageError(
                f"the scheme {self.scheme.name} rules out no label for who is truthful",
                "swap items need one, as veracity: Quality in the scheme hipo",
            )

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        title = self.scheme.dimension(self.dimension).title or self.dimension
        about = f"{title.rstrip('.')} under the own fact; null with another fact and with none."
        false = (
            f"Whether the fact makes the line false. True: {self.false} is right; false: any label"
            f" but {self.false} is; null: no fact is shown, or nobody knows."
        )
        return (
            *PROVENANCE, *SCENE, TURN, *_OWN,
            Column("false", "bool", false), Column(self._label, "text", about),
        )  # fmt: skip

    @property
    def _label(self) -> str:
        return label_column(self.dimension)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield the items of every lie in some dialogues, each text of a scenario once."""
        self._liars.clear()
        for selected in batch:
            for lie in self._lies(selected):
                other = self._other_fact(lie)
                if other is None:
                    self._left_out["lies that no other fact leaves open"] += 1
                else:
                    yield from self._items(lie, other)

    def why_none(self, selected: SelectedDialogue) -> str:
        """Return why a dialogue of the latest batch gave no item."""
        return LIES_LEFT_OUT if selected.dialogue.arm in self._liars else NO_LIE

    def notes(self) -> tuple[str, ...]:
        """Say which lines became no items."""
        return left_out_notes(self._left_out)

    def _lies(self, selected: SelectedDialogue) -> Iterator[_Lie]:
        scenario, fact = selected.scenario, selected.dialogue.case.fact
        if not fact:
            return
        knowledge = KnowledgeGraph.of(scenario)
        against = tuple(claim.id for claim in knowledge.claims_against(fact))
        for turn in selected.dialogue.turns:
            if turn.role != "responder":
                continue
            if (scenario.id, turn.text) in self._texts:
                self._liars.add(selected.dialogue.arm)
                continue
            claims = claims_made(scenario, turn.text)
            if claims is None and self._said(turn) != self.false:
                continue
            if claims is not None and not set(claims) & set(against):
                continue
            self._liars.add(selected.dialogue.arm)
            found = self._found(selected, turn)
            if claims is None and self.false not in found:
                self._left_out["lies whose claims nobody wrote down, found by no judge"] += 1
            else:
                self._texts.add((scenario.id, turn.text))
                resolved = not found or self.false in found
                written = claims is not None
                yield _Lie(selected, turn, against if claims is None else claims, written, resolved)

    def _found(self, selected: SelectedDialogue, turn: Turn) -> Sequence[object]:
        """Return what an expert decided or, without one, what judges that committed found."""
        if turn.index in selected.adjudicated:
            return (self._said(turn),)
        return [
            judgement.value
            for judgement in selected.judgements
            if (judgement.turn, judgement.dimension) == (turn.index, self.dimension)
            and judgement.source == "external"
            and judgement.value is not None
        ]

    def _said(self, turn: Turn) -> object:
        return next((x.value for x in turn.tactic if x.dimension == self.dimension), None)

    def _other_fact(self, lie: _Lie) -> str | None:
        """Return a fact that leaves the line open, drawn by the line itself and nothing else."""
        scenario, own = lie.selected.scenario, lie.selected.dialogue.case.fact
        knowledge = KnowledgeGraph.of(scenario)
        possible = []
        for fact in scenario.facts:
            truths = {knowledge.truth(claim, fact.id) for claim in lie.claims}
            if fact.id != own and truths <= {"open", "true"} and "open" in truths:
                draw = seed_from("swap", scenario.id, lie.turn.text, fact.id)
                possible.append((draw, fact.id))
        return min(possible)[1] if possible else None

    def _items(self, lie: _Lie, other: str) -> Iterator[Row]:
        selected, turn = lie.selected, lie.turn
        scenario, own = selected.scenario, selected.dialogue.case.fact
        line = f"{selected.dialogue.case.id}/{selected.arm.id}/{turn.index}"
        before = selected.dialogue.history(turn.index)
        texts = {claim.id: claim.text for claim in scenario.claims}
        shown: tuple[tuple[Shown, str | None], ...] = (
            ("own", own),
            ("other", other),
            ("none", None),
        )
        for name, fact in shown:
            yield {
                "id": f"{line}/other/{other}" if name == "other" else f"{line}/{name}",
                **provenance(selected),
                **self._scenes.of(selected),
                "turn": turn.index,
                "line": line,
                "shown": name,
                "fact_shown": fact,
                "fact_about": None if fact is None else scenario.fact(fact).about,
                "fact_text": None if fact is None else scenario.fact(fact).text,
                "question": before[-1][1] if before else "",
                "utterance": turn.text,
                "claims": [texts[claim] for claim in lie.claims],
                "status": _status(lie, name),
                "false": {"own": True, "other": False if lie.written else None}.get(name),
                self._label: self.false if name == "own" else None,
            }


def _status(lie: _Lie, shown: Shown) -> Status:
    if not lie.written:
        return "unchecked"
    if not lie.found:
        return "unresolved"
    return "not scored" if shown == "none" else "scored"


def _counted(row: Row) -> str:
    """Return what an item is counted by: what is shown, status and label."""
    label = next(value for name, value in row.items() if name.startswith(label_column("")))
    return f"items that show {row['shown']}, {row['status']}, {label or 'no label'}"


KIND = ExportKind(
    name="swap",
    about="lies with the fact that makes them false, with one that does not, and with none",
    tasks=(
        ExportTask(
            lambda scheme, _: SwapRows(scheme),
            unit="line",
            counted=_counted,
            refused={
                "--split-by fact": "a line stands beside another fact, which may be in another split",
                "--balance": "every line that is scored is false once and once not",
            },
        ),
    ),
    hub_tasks=("text-classification",),
    fractions=(0, 0, 1),
    declared_labels=False,
    where_from="swap items are made of lies that the scenario's claims decide",
)
