"""Foils: what judges are shown, and what their yes turns out to be worth."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from contextlib import contextmanager

from outputs.reliability.foil_acceptance import foil_acceptance
from pipeline.executors.local import LocalExecutor
from pipeline.stopping.stop import Stop
from pipeline.store.queries.report import open_figures
from pipeline.store.run_store import RunStore
from quality.verification.foil_trials import FoilTrials, left_to_try
from quality.verification.foils import Foil, draw_foils
from scenarios.verdicts import Judgement
from tests.factories import ARM, make_run
from tests.quality.scripted import CAR, HIPO, Asker, Oracle, dialogue, verifying_judge

TACTICS = ("Quality", "Quality", "Quantity", "Manner", "None")


def corpus(count=40):
    """Return dialogues of one answer each: the goals declare different labels."""
    found = []
    for n in range(count):
        goal = ("deception", "truthful non-disclosure")[n % 2]
        veracity = TACTICS[n // 2 % 5] if goal == "deception" else ("None", "Relevance")[n // 2 % 2]
        labels = {"veracity": veracity}
        found.append(dialogue(goal=goal, repetition=n, labels=labels))
    return found


def draw(dialogues, answers=1000, said=None):
    return draw_foils(HIPO, dialogues, answers, lambda keys: said or {})


def declared(played):
    return {label.dimension: label.value for label in played.answers()[0].tactic}


def test_a_foil_is_another_label_that_others_declare_under_the_goal():
    dialogues = corpus()
    by_key = {(d.case.id, d.arm): d for d in dialogues}
    foils = draw(dialogues)
    assert foils.keys() == by_key.keys()
    shown = Counter()
    for key, some in foils.items():
        played = by_key[key]
        for foil in some:
            assert foil.label != declared(played)[foil.dimension]
            shown[played.case.goal, foil.dimension, foil.label] += 1
    assert {k[2] for k in shown if k[0] == "truthful non-disclosure"} == {"None", "Relevance"}
    assert {k[2] for k in shown if k[0] == "deception"} == set(TACTICS)
    # Everybody declares the same intention and act: no other label of theirs is plausible.
    assert {dimension for _, dimension, _ in shown} == {"veracity"}
    assert draw(dialogues) == foils


def test_a_label_that_a_blind_judge_named_first_or_second_is_no_foil():
    dialogues = [d for d in corpus() if declared(d)["veracity"] == "Quality"]
    others = [d for d in corpus() if declared(d)["veracity"] != "Quality"]
    said = {
        (d.case.id, d.arm): [
            Judgement(d.case.id, d.arm, 3, "self", "m", "veracity", "Manner", False, "", "None")
        ]
        for d in dialogues
    }
    foils = draw([*dialogues, *others], said=said)
    drawn = {f.label for d in dialogues for f in foils[d.case.id, d.arm]}
    assert drawn == {"Quantity"}


def test_as_many_answers_are_drawn_as_are_wanted_and_more_keeps_them():
    dialogues = corpus()
    few, more = draw(dialogues, 10), draw(dialogues, 20)
    assert len(few) == 10
    assert few.keys() <= more.keys()
    assert draw(dialogues[::-1], 10).keys() == few.keys()


def test_only_one_label_is_exchanged_at_a_time():
    labels = dialogue().answers()[0].tactic
    shown = Foil(3, "veracity", "Manner").shown(labels)
    changed = [(a.dimension, b.value) for a, b in zip(labels, shown, strict=True) if a != b]
    assert changed == [("veracity", "Manner")]


class Shown:
    """Says of shown labels what a rule says; everything else is right."""

    def __init__(self, accepts):
        self.accepts = accepts
        self.oracle = Oracle()

    def __call__(self, messages, seed):
        found = dict(re.findall(r"^Declared (\w+): (.+)$", messages[1][1], re.MULTILINE))
        said = re.search(r"^Utterance: (.+)$", messages[1][1], re.MULTILINE)
        self.oracle.verdicts = {
            f"{name}_carried": self.accepts(said[1], label) for name, label in found.items()
        }
        return self.oracle(messages, seed)


@contextmanager
def run_of(folder, dialogues):
    with RunStore.open(make_run(folder, dialogues)) as store:
        yield store


async def _tried(store, dialogues, judge, answers=1000):
    foils = draw(dialogues, answers)
    stop = Stop()
    jobs = list(left_to_try(store.judgements, dialogues, foils, {ARM: [judge.seat]}, lambda _: CAR))
    trials = FoilTrials(store.judgements, {(ARM, judge.seat): judge}, stop, 1)
    await trials.run(jobs, LocalExecutor(4))
    return len(jobs)


def tried(*arguments):
    return asyncio.run(_tried(*arguments))


def acceptance(tmp_path, accepts):
    dialogues = corpus()
    with run_of(tmp_path / "run", dialogues) as store:
        asker = Asker(Shown(accepts))
        tried(store, dialogues, verifying_judge(asker))
        with open_figures(store.folder) as figures:
            (found,) = foil_acceptance(HIPO, figures.trials())
    assert found.dimension == "veracity"
    assert found.declared.judged == found.foil.judged == 40
    return found


def test_a_judge_that_always_agrees_accepts_foils_as_often(tmp_path):
    found = acceptance(tmp_path, lambda said, label: True)
    assert (found.declared.value, found.foil.value, found.difference) == (1.0, 1.0, 0.0)
    assert found.interval is None, "the difference is the same in every resample"


def test_a_judge_that_is_right_accepts_no_foil(tmp_path):
    truth = {d.answers()[0].text: declared(d)["veracity"] for d in corpus()}
    right = {"Convince", "Representatives"}
    found = acceptance(tmp_path, lambda said, label: label in right or truth[said] == label)
    assert (found.declared.value, found.foil.value, found.difference) == (1.0, 0.0, 1.0)


def test_a_judge_that_answers_by_what_is_usual_gains_nothing_from_the_answer(tmp_path):
    # It accepts the commonest label wherever it stands, and no other.
    found = acceptance(tmp_path, lambda said, label: label in ("Quality", "None"))
    assert found.interval.low < 0.25
    assert found.difference < 0.5


def test_what_was_tried_is_not_tried_again_and_flags_nothing(tmp_path):
    dialogues = corpus(8)
    with run_of(tmp_path / "run", dialogues) as store:
        asker = Asker(Shown(lambda said, label: True))
        judge = verifying_judge(asker)
        assert tried(store, dialogues, judge) == len(draw(dialogues))
        asked = len(asker.contexts)
        assert tried(store, dialogues, judge) == 0
        assert len(asker.contexts) == asked
        purposes = Counter(context.purpose for context in asker.contexts)
        assert purposes["external-foil"] == sum(map(len, draw(dialogues).values()))
        counts = store.judgements.counts()
        assert not counts.judged
        assert not counts.verdicts
        keys = [(d.case.id, d.arm) for d in dialogues]
        assert store.judgements.runs(keys) == {}
        assert store.judgements.judgements(keys) == {}
