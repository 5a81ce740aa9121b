"""Swap items: one line that is a lie under its own fact and none under another.

The words of both items are the same, so that whoever reads the words alone is right in one half of
them, whatever the words are. Only who holds them against the fact can do better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

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
from outputs.export_kind import ExportKind, ExportTask
from outputs.selection import SelectedDialogue
from scenarios.dialogue import Turn
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.graph import KnowledgeGraph
from scenarios.lines.checks import ruled_out_by_truth
from scenarios.lines.claims import claims_made
from scenarios.schemes.model import Scheme

Shown = Literal["own", "other", "none"]
Status = Literal["scored", "unresolved", "not scored"]
UNTOUCHED: Final = "None"
"""The label of a line that does nothing with the fact, if the scheme has one of this name."""
_OWN = (
    Column("line", "text", "Names the line: its items differ in the fact that is shown alone."),
    Column("shown", "text", "own: the fact of its speaker; other: another one; none: no fact."),
    Column("fact_shown", "text", "The id of the fact that is shown; null: none is."),
    Column("fact_text", "text", "The fact that is shown; null: none is."),
    Column("question", "text", "What was said just before."),
    Column("utterance", "text", "The line."),
    Column("claims", "texts", "What the line claims, or, where nobody wrote that down, may claim."),
    Column("false", "bool", "Whether the fact makes the line false; null where no fact is shown."),
    Column(
        "status",
        "text",
        "scored; unresolved: judges who saw the own fact did not find the lie; not scored: no fact.",
    ),
)


@dataclass(frozen=True, slots=True)
class _Lie:
    """A line that is false under the fact of its speaker."""

    selected: SelectedDialogue
    turn: Turn
    claims: tuple[str, ...]
    """The claims it makes or, if nobody wrote that down, all that its fact makes false."""


@dataclass
class SwapRows:
    """Three items per lie: with its fact, with another fact that leaves it open, and with none.

    What a line claims is written down for fixed lines and authored ones. Of other lines a judge
    who has not seen the declared label must have found the lie; such a line may make any claim
    that its fact makes false, so the other fact has to leave all of them open.
    """

    scheme: Scheme
    subset: str = field(default="swap", init=False)
    reading: Reading = field(default=Reading(), init=False)
    _used: Counter[tuple[str, str]] = field(default_factory=Counter, init=False)
    """By scenario and fact: how much more often it was shown as the own fact than as another."""
    _texts: set[tuple[str, str]] = field(default_factory=set, init=False)
    _left_out: Counter[str] = field(default_factory=Counter, init=False)
    _scenes: Scenes = field(default_factory=Scenes, init=False)

    def __post_init__(self) -> None:
        """Find the label that whoever is truthful cannot have."""
        self.dimension, self.false = next(ruled_out_by_truth(self.scheme), ("", ""))
        if not self.dimension:
            raise UsageError(
                f"the scheme {self.scheme.name} rules out no label for who is truthful",
                "swap items need one, as veracity: Quality in the scheme hipo",
            )
        values = self.scheme.dimension(self.dimension).values
        self.untouched = UNTOUCHED if UNTOUCHED in values else None

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        title = self.scheme.dimension(self.dimension).title or self.dimension
        about = f"{title.rstrip('.')} under the fact that is shown; null where none is."
        return (*PROVENANCE, *SCENE, TURN, *_OWN, Column(self._label, "text", about))

    @property
    def _label(self) -> str:
        return label_column(self.dimension)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield the items of every lie in some dialogues, each text of a scenario once."""
        for selected in batch:
            for lie in self._lies(selected):
                other = self._other_fact(lie)
                if other is None:
                    self._left_out["lies that no other fact leaves open"] += 1
                else:
                    yield from self._items(lie, other)

    def notes(self) -> tuple[str, ...]:
        """Say which lines became no items."""
        return left_out_notes(self._left_out)

    def _lies(self, selected: SelectedDialogue) -> Iterator[_Lie]:
        scenario, fact = selected.scenario, selected.dialogue.case.fact
        knowledge = KnowledgeGraph.of(scenario)
        against = tuple(claim.id for claim in knowledge.claims_against(fact))
        for turn in selected.dialogue.turns:
            if turn.role != "responder" or (scenario.id, turn.text) in self._texts:
                continue
            claims = claims_made(scenario, turn.text)
            if claims is None:
                if self._said(turn) != self.false:
                    continue
                if self.false not in _found_by_judges(selected, turn, self.dimension):
                    self._left_out["lies whose claims nobody wrote down, found by no judge"] += 1
                    continue
                claims = against
            if set(claims) & set(against):
                self._texts.add((scenario.id, turn.text))
                yield _Lie(selected, turn, claims)

    def _said(self, turn: Turn) -> object:
        return next((x.value for x in turn.tactic if x.dimension == self.dimension), None)

    def _other_fact(self, lie: _Lie) -> str | None:
        """Return a fact that leaves the line open, the one that was shown as another the least."""
        scenario, own = lie.selected.scenario, lie.selected.dialogue.case.fact
        knowledge = KnowledgeGraph.of(scenario)
        possible = []
        for fact in scenario.facts:
            truths = {knowledge.truth(claim, fact.id) for claim in lie.claims}
            if fact.id != own and truths <= {"open", "true"} and "open" in truths:
                draw = seed_from("swap", scenario.id, lie.turn.text, fact.id)
                possible.append((-self._used[scenario.id, fact.id], draw, fact.id))
        if not possible:
            return None
        other = min(possible)[2]
        self._used[scenario.id, own] += 1
        self._used[scenario.id, other] -= 1
        return other

    def _items(self, lie: _Lie, other: str) -> Iterator[Row]:
        selected, turn = lie.selected, lie.turn
        scenario, own = selected.scenario, selected.dialogue.case.fact
        found = _found_by_judges(selected, turn, self.dimension)
        resolved = not found or self.false in found
        line = f"{selected.dialogue.case.id}/{selected.arm.id}/{turn.index}"
        before = selected.dialogue.history(turn.index)
        texts = {claim.id: claim.text for claim in scenario.claims}
        shown: tuple[tuple[Shown, str | None], ...] = (
            ("own", own),
            ("other", other),
            ("none", None),
        )
        for name, fact in shown:
            scored: Status = "not scored" if fact is None else "scored"
            yield {
                "id": f"{line}/{name}",
                **provenance(selected),
                **self._scenes.of(selected),
                "turn": turn.index,
                "line": line,
                "shown": name,
                "fact_shown": fact,
                "fact_text": None if fact is None else scenario.fact(fact).text,
                "question": before[-1][1] if before else "",
                "utterance": turn.text,
                "claims": [texts[claim] for claim in lie.claims],
                "false": None if fact is None else name == "own",
                "status": scored if resolved else "unresolved",
                self._label: {"own": self.false, "other": self.untouched}.get(name),
            }


def _found_by_judges(selected: SelectedDialogue, turn: Turn, dimension: str) -> tuple[object, ...]:
    """Return what external judges that committed found on a dimension of one line."""
    return tuple(
        judgement.value
        for judgement in selected.judgements
        if (judgement.turn, judgement.dimension) == (turn.index, dimension)
        and judgement.source == "external"
        and judgement.value is not None
    )


KIND = ExportKind(
    name="swap",
    about="lies with the fact that makes them false, with one that does not, and with none",
    tasks=(ExportTask(lambda scheme, _: SwapRows(scheme)),),
    hub_tasks=("text-classification",),
    declared_labels=False,
    where_from="swap items are made of lies that the scenario's claims decide",
)
