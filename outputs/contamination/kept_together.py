"""What an export leaves in one split: scenarios that tell one situation or hold the same dialogues."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from operator import attrgetter
from typing import Final, Literal

from pipeline.importing.situations import NO_BACKGROUND
from quality.gates.near_duplicates import NearDuplicates
from quality.gates.protocol import GatedDialogue
from quality.gates.signatures import SignatureIndex, bands_for, signature_of
from scenarios.case import Case
from scenarios.checks.duplicates import WORDING
from scenarios.dialogue import Dialogue
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.wording import content_terms, resemblance, words

HELD: Final = 0.5
"""Of two scenarios, the share of one's dialogues that nearly are the other's from which on both hold
the same dialogues. Below it they share stock phrases, as short dialogues of any two do."""
FEWEST_WORDS: Final = 8
"""Shorter texts are nearly the same by chance, and are not compared."""
_SLACK: Final = 0.1
"""How far below a resemblance candidates are looked at, since signatures only estimate it."""
_EACH_PAIR: Final = 50
"""Of more scenarios that hold one dialogue, each is compared with the next by id alone."""

Why = Literal["variant_of", "background", "dialogues"]


@dataclass(frozen=True, slots=True)
class AlikeScenarios:
    """Two scenarios, or imported dialogues, that an export leaves in one split, and why."""

    first: str
    second: str
    """Both are ids, in the order of the alphabet."""
    why: Why
    """``variant_of``: one is declared to tell the other anew; ``background``: both have nearly the
    same; ``dialogues``: most dialogues of one are nearly dialogues of the other."""
    share: float
    """What they have in common: of words, or of the dialogues of one; 1 where it is declared."""


def alike_situations(scenarios: Iterable[Scenario]) -> list[AlikeScenarios]:
    """Return the scenarios that tell one situation, each with the first one, by id, that does.

    That is declared, or their backgrounds are as like as ``hipo scenarios validate`` warns of.
    Imported dialogues of one situation and several facts are scenarios of such a kind, and so is a
    scenario that was copied. Signs and capitals do not count; no background is nobody's.
    """
    ordered = sorted(scenarios, key=lambda one: (one.id, one.background))
    found: dict[tuple[str, str], AlikeScenarios] = {}
    originals = {one.id: one.id for one in ordered}
    first: dict[str, str] = {}
    index = SignatureIndex(*bands_for(WORDING), max(1, len(ordered)))
    known: list[tuple[str, str]] = []
    for scenario in ordered:
        if scenario.variant_of is not None:  # variants of one that is not there are, of each other
            original = originals.setdefault(scenario.variant_of, scenario.id)
            _keep(found, scenario.id, original, "variant_of", 1.0)
        if scenario.background == NO_BACKGROUND:
            continue
        text = unicodedata.normalize("NFKC", scenario.background).casefold()
        same = first.setdefault(" ".join(re.findall(r"\w+", text)), scenario.id)
        if same != scenario.id:
            _keep(found, scenario.id, same, "background", 1.0)
            continue
        signature = signature_of(map(str, content_terms(text)))
        if signature is None or len(words(text)) < FEWEST_WORDS:
            continue
        for number, _ in index.alike(signature, WORDING - _SLACK):
            other, background = known[number]
            share = resemblance(background, text)
            if share >= WORDING:
                _keep(found, scenario.id, other, "background", round(share, 3))
        index.add(signature)
        known.append((scenario.id, text))
    return list(found.values())


def _keep(
    found: dict[tuple[str, str], AlikeScenarios], one: str, other: str, why: Why, share: float
) -> None:
    """Remember two scenarios with the first reason that is found; a scenario is like itself."""
    first, second = sorted((one, other))
    if first != second:
        found.setdefault((first, second), AlikeScenarios(first, second, why, share))


@dataclass(frozen=True, slots=True)
class AlikeDialogues:
    """The dialogues of a run, or of several, by which of them are nearly the same."""

    groups: Sequence[Counter[str]]
    """Of dialogues that are nearly the same, how many each scenario, or what else is divided, has."""
    sizes: Counter[str]
    """How many dialogues each has."""

    @classmethod
    def of(
        cls,
        dialogues: Iterable[Dialogue],
        scheme: Scheme,
        divided: Callable[[Case], str] = attrgetter("scenario"),
    ) -> AlikeDialogues:
        """Compare each dialogue with the latest before it, by the measure of ``near_duplicate``.

        Time grows with the number of dialogues; memory holds the window of the gate, and grows with
        those that are like another one. Embeddings are not asked for.

        Args:
            dialogues: in the order of their cases.
            scheme: of their labels.
            divided: names what a case belongs to that splits do not share, by default its scenario.
        """
        memory = NearDuplicates()
        group_of: dict[tuple[str, str], Counter[str] | None] = {}
        """Of the latest dialogues, which group each is in; None: it is like none before it."""
        groups: list[Counter[str]] = []
        sizes: Counter[str] = Counter()
        for dialogue in dialogues:
            case, name = dialogue.case, divided(dialogue.case)
            sizes[name] += 1
            subject = GatedDialogue(dialogue, None, scheme)
            if len(subject.improvised_words) < FEWEST_WORDS:
                continue
            twin = memory.twin_by_words(subject)
            group = None
            if twin is not None:
                group = group_of[twin.case.id, twin.arm]
                if group is None:
                    group = group_of[twin.case.id, twin.arm] = Counter([divided(twin.case)])
                    groups.append(group)
                group[name] += 1
            group_of.pop((case.id, dialogue.arm), None)  # of another run: the later one counts
            group_of[case.id, dialogue.arm] = group
            if len(group_of) > len(memory):
                del group_of[next(iter(group_of))]
        return cls(groups, sizes)

    def scenarios(self) -> list[AlikeScenarios]:
        """Return the scenarios, or what else is divided, of which one holds most dialogues of the other."""
        shared: Counter[tuple[str, str]] = Counter()
        for group in self.groups:
            for one, other in _pairs(sorted(group)):
                shared[one, other] += group[one]
                shared[other, one] += group[other]
        return [
            AlikeScenarios(one, other, "dialogues", round(share, 3))
            for one, other in sorted(shared)
            if one < other
            and (share := max(self._share(shared, one, other), self._share(shared, other, one)))
            >= HELD
        ]

    def _share(self, shared: Counter[tuple[str, str]], one: str, other: str) -> float:
        return shared[one, other] / self.sizes[one]

    def across(self, splits: Mapping[str, str]) -> int:
        """Count the dialogues that are nearly one of another split.

        Args:
            splits: by scenario, or what else is divided.
        """
        return sum(
            group.total() for group in self.groups if len({splits[name] for name in group}) > 1
        )


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    return combinations(names, 2) if len(names) <= _EACH_PAIR else pairwise(names)


def led_by(scenarios: Iterable[str], pairs: Iterable[AlikeScenarios]) -> dict[str, str]:
    """Return for every scenario the first, by id, of those that it stays together with."""
    leader = {scenario: scenario for scenario in scenarios}

    def led(scenario: str) -> str:
        while leader.setdefault(scenario, scenario) != scenario:
            leader[scenario] = leader[leader[scenario]]
            scenario = leader[scenario]
        return scenario

    for pair in pairs:
        before, after = sorted((led(pair.first), led(pair.second)))
        leader[after] = before
    return {scenario: led(scenario) for scenario in sorted(leader)}
