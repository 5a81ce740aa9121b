"""What stands in the phrase books goes with its labels, and with whatever fills its slots."""

from __future__ import annotations

import re
from itertools import product
from statistics import mean

from pipeline.offline.dice import Dice
from pipeline.offline.grammar import listed
from pipeline.offline.lexicon import words
from pipeline.offline.manner import read_manner
from pipeline.offline.rationales import Reasons
from pipeline.offline.responding import Scene, phrasings, speak
from pipeline.offline.tactics import ACT, INTENTION, LIE, REPERTOIRE, VERACITY, Tactic
from scenarios.catalogue import Catalogue
from scenarios.lines.library import spoken_stage_lines

SCENE = Scene(
    topics=("the cake", "the key to the cloakroom", "the weather in the mountains"),
    details=("I sleep here myself", "there's a record of it in the office on the third floor"),
    lines=(),
    covers=("nobody has used the room since the spring", "the door was shut because it was cold"),
    manner=read_manner(""),
    said=frozenset(),
)
TIMES = {"today", "tomorrow", "tonight", "week", "month", "morning", "evening"}


def test_a_line_that_only_informs_strengthens_nothing() -> None:
    """The steps make what says "never" or "really" convince."""
    for veracity in REPERTOIRE[VERACITY]:
        for act in REPERTOIRE[ACT]:
            for line in listed("cores", veracity, act):
                mark, _, text = line.rpartition("| ")
                plain = "c" not in mark and "m" not in mark
                assert not plain or not words("strong") & set(text.lower().split()), line


def test_what_is_said_of_a_topic_names_no_time() -> None:
    """A topic may name one itself: "I'll make time for the taxi for tomorrow this week"."""
    for book in ("cores", "feelings"):
        for act in REPERTOIRE[ACT]:
            for line in listed(book, "Relevance", act):
                said = set(re.findall(r"\w+", line.lower()))
                assert "topic" not in said or not said & TIMES, line


def test_a_plain_lie_or_detail_gives_no_reason_and_strengthens_nothing() -> None:
    """The steps make what gives a reason, or says "never", convince."""
    assert SCENE.covers[1] not in SCENE.slots("Inform")["lie"]
    assert SCENE.covers[1] in SCENE.slots("Convince")["lie"]
    for entry in Catalogue.load().entries.values():
        lines = spoken_stage_lines(entry.template)
        for detail in lines.details if lines else ():
            assert not words("strong") & set(detail.text.lower().split()), detail.text


def test_how_long_a_line_is_tells_little_of_its_label() -> None:
    """Lies were longer than other lines."""
    long: dict[tuple[str, str], list[int]] = {}
    for why, how, act in product(*REPERTOIRE.values()):
        tactic = Tactic(why, how, act, "d")
        for seed in range(12 if phrasings(tactic, SCENE) else 0):
            text = speak(SCENE, tactic, Dice(seed))
            for dimension, label in zip(REPERTOIRE, (why, how, act), strict=True):
                long.setdefault((dimension, label), []).append(len(text))
    for dimension in (INTENTION, VERACITY, ACT):
        means = [mean(found) for (name, _), found in long.items() if name == dimension]
        assert max(means) - min(means) < 9, (dimension, means)


def test_the_reason_of_a_lie_says_what_is_false() -> None:
    line = "Look, you look so sad, and over nothing at all. Do cheer up."
    claim = "nothing comes in while the restaurant is shut"
    for seed in range(8):
        told = Reasons(line, "the till", "reporter", "").of(VERACITY, LIE, Dice(seed))
        assert "over nothing at all" in told
        told = Reasons("It was. Ask anybody.", "the till", "reporter", claim).of(
            VERACITY, LIE, Dice(seed)
        )
        assert claim in told
