"""Dialogues that share few words with any other are not embedded, and nothing is flagged otherwise."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import numpy as np
import pytest

from hipo import generate
from pipeline.recipes.recipe import Recipe
from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from quality.gates.near_duplicates import DuplicateSettings, NearDuplicates
from quality.gates.runner import GateChecks
from quality.gates.settings import gate_settings
from quality.gates.shared_words import SharedWords
from scenarios.wording import words
from tests.quality.gates.test_near_duplicates import OTHER, SAID

NEARLY = (
    "By whom, and what, was done to the wing: could you tell me that?",
    "A garage resprayed it, one that I trust, last year; the glovebox has the bill in it.",
)
"""Most of the words of SAID, few of its triples."""


class BagOfWords:
    """Embeds a text as the unit vector of how often each word is said in it."""

    def __init__(self):
        self.places = {}
        self.texts = []

    async def encode(self, texts):
        """Return one row per text."""
        self.texts += texts
        rows = np.zeros((len(texts), 4096), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                row[self.places.setdefault(word, len(self.places))] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Offline dialogues, and some of them once more as other cases with the sentences in turn."""
    recipe = Recipe.model_validate(
        {"models": {"default": {"model": "offline/rules"}}, "n": 120, "tactics": "balanced"}
    )
    folder = generate(recipe, output=tmp_path_factory.mktemp("sparing") / "run").folder
    with RunStore.open(folder, readonly=True) as store:
        material = load_material(store)
        dialogues = list(store.dialogues(traces=False))
    again = [
        replace(
            dialogue,
            case=replace(dialogue.case, id=f"again{dialogue.case.id}"),
            turns=tuple(
                replace(turn, text=" ".join(reversed(turn.text.split()))) for turn in dialogue.turns
            ),
        )
        for dialogue in dialogues[::10]
    ]
    return material, [*dialogues, *again]


async def flagged(played, *, spare):
    material, dialogues = played
    encoder = BagOfWords()
    settings = gate_settings({"duplicate_cosine": 0.95})
    checks = GateChecks.of(settings, material.scheme, encoder)
    if not spare:
        checks = replace(checks, sparing=None)
    flags = []
    for start in range(0, len(dialogues), 50):
        page = [(d, material.scenario_of(d.case)) for d in dialogues[start : start + 50]]
        flags += checks.check(page, await checks.embed(page))
    return flags, encoder.texts


@pytest.mark.anyio
async def test_flags_are_the_same_as_where_every_dialogue_is_embedded(played):
    spared, some = await flagged(played, spare=True)
    whole, every = await flagged(played, spare=False)
    assert spared == whole
    meant = [flag for flags in whole for flag in flags if "its meaning is that of" in flag.reason]
    assert len(meant) >= 10
    assert len(every) == len(played[1]) > 2 * len(some)


def test_a_dialogue_is_named_with_those_before_it_that_it_is_like_each_of_them_once(stage):
    gate = NearDuplicates()
    first, unlike = stage.play(*SAID), stage.play(*OTHER, repetition=1)
    assert gate.to_embed(first) == gate.to_embed(unlike) == []
    second, third = stage.play(*NEARLY, repetition=2), stage.play(NEARLY[0], SAID[1], repetition=3)
    assert gate.to_embed(second) == [
        (first.dialogue.case.id, "\n".join(SAID)),
        (second.dialogue.case.id, "\n".join(NEARLY)),
    ]
    assert [case for case, _ in gate.to_embed(third)] == [third.dialogue.case.id]


def test_what_is_flagged_by_its_words_is_never_embedded(stage):
    gate = NearDuplicates()
    first, same = stage.play(*SAID), stage.play(*SAID, repetition=1)
    assert gate.to_embed(first) == gate.to_embed(same) == []
    assert gate.add_and_check(first) == []
    assert [flag.severity for flag in gate.add_and_check(same)] == [1.0]
    last = stage.play(*NEARLY, repetition=2)
    named = [case for case, _ in gate.to_embed(last)]
    assert named == [first.dialogue.case.id, last.dialogue.case.id]


class Held(BagOfWords):
    """Answers when it is let."""

    def __init__(self):
        super().__init__()
        self.let = asyncio.Event()

    async def encode(self, texts):
        """Return rows, later."""
        rows = await super().encode(texts)
        await self.let.wait()
        return rows


@pytest.mark.anyio
async def test_a_dialogue_that_waits_for_its_embedding_is_not_taken_for_one_that_overtakes_it(
    stage,
):
    encoder = Held()
    checks = GateChecks.of(gate_settings(), stage.scheme, encoder)

    async def reasons(*said, repetition):
        subject = stage.play(*said, repetition=repetition)
        page = [(subject.dialogue, stage.scenario)]
        (flags,) = checks.check(page, await checks.embed(page))
        return [flag.reason for flag in flags if flag.code == NearDuplicates.code]

    assert await reasons(*SAID, repetition=0) == []
    waiting = asyncio.ensure_future(reasons(*NEARLY, repetition=1))
    while not encoder.texts:
        await asyncio.sleep(0)
    (same,) = await reasons(*SAID, repetition=2)
    assert same.startswith("100% of its word triples")
    encoder.let.set()
    assert not any("word triples" in reason for reason in await waiting)


def test_the_same_case_of_another_arm_needs_no_embedding(stage):
    gate = NearDuplicates()
    assert gate.to_embed(stage.play(*SAID, arm="a")) == []
    assert gate.to_embed(stage.play(*SAID, arm="b")) == []


def test_what_was_embedded_late_is_compared_too(stage):
    gate = NearDuplicates(DuplicateSettings(duplicate_cosine=0.9))
    gate.add_and_check(stage.play(*SAID), None)
    vector = np.array([1, 0], np.float32)
    gate.remember_meaning("earlier", vector)
    [flag] = gate.add_and_check(stage.play(*OTHER, repetition=1), vector)
    assert "its meaning is that of earlier" in flag.reason


def test_shared_words_are_those_of_a_count_of_all_pairs_within_the_window():
    rng = random.Random(3)
    sets = [frozenset(rng.sample("abcdefghij", rng.randrange(6))) for _ in range(300)]
    index = SharedWords(0.5, window=40)

    def alike(one, other):
        return len(one & other) >= 0.5 * len(one | other)  # two empty sets are alike

    for number, own in enumerate(sets):
        before = range(max(0, number - 40), number)
        assert index.add(own) == (number, [at for at in before if alike(sets[at], own)])
