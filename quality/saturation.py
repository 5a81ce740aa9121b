"""How many distinct dialogues a run yields the longer it goes on, and what near-duplicates share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from quality.gates.near_duplicates import NearDuplicates
from quality.gates.protocol import GatedDialogue
from quality.saturation_window import WINDOW
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.schemes.model import Scheme

FEWEST = 50
"""Dialogues from which on a curve says anything."""
_POINTS = 20
_MOST = 0.5
"""Share of near-duplicates from which on what they share is taken for the reason."""
AXES = ("persona", "register", "style", "opening")
"""Axes of variation that ship."""


@dataclass(frozen=True, slots=True)
class YieldPoint:
    """How far a run was at one place of the curve."""

    generated: int
    distinct: int
    """Dialogues that are no near-duplicate of one before them."""


@dataclass(slots=True)
class SaturationCurve:
    """Distinct dialogues against dialogues; feed it the dialogues of a run in the order of its cases.

    Two dialogues are one if 70 % of the word triples of their improvised turns are the same, as the
    gate ``near_duplicate`` has it. Two arms that play one case are alike by design: their dialogues
    are one only where they are the same word for word. Memory is bounded: a dialogue is compared with
    the latest 20,000.
    """

    scheme: Scheme
    window: int = WINDOW
    _memory: NearDuplicates = field(default_factory=NearDuplicates, repr=False)
    _is_new: bytearray = field(default_factory=bytearray, repr=False)
    _shared: Counter[str] = field(default_factory=Counter, repr=False)

    def add(self, dialogue: Dialogue) -> bool:
        """Count one dialogue; return whether it is distinct."""
        case = dialogue.case
        twin = self._memory.twin_by_words(GatedDialogue(dialogue, None, self.scheme))
        self._is_new.append(twin is None)
        if twin is not None:
            self._shared.update(_alike(case, twin.case))
        return twin is None

    def extend(self, dialogues: Iterable[Dialogue]) -> None:
        """Count several dialogues."""
        for dialogue in dialogues:
            self.add(dialogue)

    @property
    def generated(self) -> int:
        """Dialogues that were counted."""
        return len(self._is_new)

    @property
    def distinct(self) -> int:
        """Those that are no near-duplicate of one before them."""
        return sum(self._is_new)

    @property
    def duplicates(self) -> int:
        """Near-duplicates."""
        return self.generated - self.distinct

    @property
    def late_share(self) -> float | None:
        """Share of distinct ones among the last ``window`` dialogues; None: there are fewer."""
        if self.generated < self.window:
            return None
        return sum(self._is_new[-self.window :]) / self.window

    def is_saturated(self, share: float) -> bool:
        """Whether the last ``window`` dialogues added fewer than a given share of distinct ones."""
        late = self.late_share
        return late is not None and late < share

    def points(self) -> tuple[YieldPoint, ...]:
        """Return about twenty points of the curve, evenly apart, the last dialogue among them."""
        step = max(1, -(-self.generated // _POINTS))
        found, distinct = [YieldPoint(0, 0)], 0
        for place, is_new in enumerate(self._is_new, 1):
            distinct += is_new
            if place % step == 0 or place == self.generated:
                found.append(YieldPoint(place, distinct))
        return tuple(found)

    def shared(self) -> Mapping[str, float]:
        """Return what share of near-duplicates has what in common with its twin, by name."""
        if not self.duplicates:
            return {}
        return {name: n / self.duplicates for name, n in self._shared.most_common()}

    def advice(self, open_axes: Iterable[str]) -> tuple[str, ...]:
        """Say what could be varied, by what near-duplicates have in common.

        Args:
            open_axes: axes of variation that are drawn from already.
        """
        return tuple(_advice(self.shared(), list(open_axes))) if self.duplicates else ()


def _alike(case: Case, twin: Case) -> Iterator[str]:
    """Yield what two cases have in common; all of it, and ``case``, where they are one."""
    if case.id == twin.id:
        yield "case"
    if case.scenario != twin.scenario:
        return
    yield "scenario"
    if case.goal == twin.goal:
        yield "goal"
    if case.fact == twin.fact:
        yield "fact"
        if (case.goal, case.turns, case.language) == (twin.goal, twin.turns, twin.language):
            yield "combination"
    drawn = dict(twin.variation)
    yield from (f"axis {axis}" for axis, value in case.variation if drawn.get(axis) == value)


def _advice(shared: Mapping[str, float], open_axes: list[str]) -> Iterator[str]:
    closed = [axis for axis in AXES if axis not in open_axes]
    vary = f"--vary {','.join([*open_axes, *closed])}" if closed else ""
    if shared.get("case", 0.0) >= _MOST:
        yield (
            f"{shared['case']:.0%} of near-duplicates are what another strategy said in the same case, "
            "word for word: it changed nothing of the draft; play one strategy alone, or name another "
            "critic or model"
        )
    elif shared.get("combination", 0.0) >= _MOST:
        share = shared["combination"]
        yield (
            f"{share:.0%} of near-duplicates repeat scenario, fact, goal and length of their twin: "
            "more scenarios or facts, or fewer repetitions"
        )
        if vary:
            yield f"what is repeated can be told apart by axes of variation: {vary}"
        yield "a higher --temperature lets a model say the same in other words"
    elif shared.get("fact", 0.0) >= _MOST:
        yield (
            f"{shared['fact']:.0%} of near-duplicates share scenario and fact with a twin of another "
            "goal or length: goals sound alike, so ask for tactics (--tactics balanced)"
        )
    elif shared.get("scenario", 0.0) >= _MOST:
        yield (
            f"{shared['scenario']:.0%} of near-duplicates are of one scenario and of different facts: "
            "its facts are told alike, so add scenarios rather than facts"
        )
    else:
        yield "most near-duplicates are of different scenarios: the model has few ways of speaking"
        if vary:
            yield f"open axes of variation: {vary}"
        yield "a higher --temperature or a second model varies the wording"
    for axis in open_axes:
        same = max(
            (n for name, n in shared.items() if name.startswith(f"axis {axis}")), default=0.0
        )
        if same < _MOST:
            yield f"{axis} is drawn anew in most near-duplicates and does not tell them apart"
