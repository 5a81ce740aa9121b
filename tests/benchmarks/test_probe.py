"""The probes of what can be learnt: folds, floor, intervals, and that no scenario tells of itself."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import probe
from benchmarks.probe import clustered, commonest, fold_of, heading, page, score, shared_lines
from benchmarks.probe_items import ProbeItem, ProbeSets, gold_probe_items, lines_of
from benchmarks.probe_ridge import NestedRidge
from benchmarks.probe_views import SHORTCUTS
from outputs.audit.corpus import AuditedAnswer, AuditedDialogue
from outputs.audit.probes import PROBES
from scenarios.lines.library import scenarios_with

NAMES = [f"s{number}" for number in range(10)]


def item(scenario: str, line: str, label: str, goal: str = "deception") -> ProbeItem:
    said = AuditedAnswer(1, line, {"veracity": label}, "Well?")
    within = AuditedDialogue(
        case=f"{scenario}/{line}", pair=scenario, arm="a", scenario=scenario, fact="f", goal=goal,
        answers=(said,), opening="Well?",
    )  # fmt: skip
    return next(lines_of(within))


def test_every_line_of_a_scenario_is_in_one_fold_and_each_fold_has_a_like_share() -> None:
    folds = fold_of([name for name in NAMES for _ in range(3)])
    assert set(folds) == set(NAMES)
    assert np.bincount(list(folds.values())).tolist() == [2] * 5


def test_the_floor_is_the_commonest_label_of_each_scenario_by_itself() -> None:
    labels = ["lie", "lie", "dodge", "dodge", "dodge", "lie"]
    right = commonest(labels, ["a", "a", "a", "b", "b", "b"])
    assert right.tolist() == [True, True, False, True, True, False]


def test_an_interval_draws_whole_scenarios() -> None:
    # Two scenarios, one all right and one all wrong: a resample holds one of them, or both.
    right = np.array([[1.0]] * 50 + [[0.0]] * 50)
    (around,) = clustered(right, ["a"] * 50 + ["b"] * 50)
    assert around is not None
    assert (around.low, around.high) == (0.0, 1.0)
    # The same lines, each a scenario of its own: the usual interval of a share.
    (around,) = clustered(right, [str(number) for number in range(100)])
    assert around is not None
    assert around.low == pytest.approx(0.4, abs=0.01)
    assert around.high == pytest.approx(0.6, abs=0.01)


def test_a_score_is_paired_with_its_floor_scenario_by_scenario() -> None:
    items = [item("a", "x", "lie"), item("a", "y", "lie"), item("b", "x", "dodge")]
    found = score("label", "line", "veracity", items, ["lie", "dodge", "dodge"])
    assert found.accuracy == pytest.approx(2 / 3)
    assert found.floor == 1.0
    assert found.constant == pytest.approx(2 / 3)
    assert found.gain == pytest.approx(-1 / 3)
    assert found.gain_interval is not None
    assert (found.gain_interval.low, found.gain_interval.high) == (-0.5, 0.0)


def folds(items: int, scenarios: int = 10) -> np.ndarray:
    return np.repeat(np.arange(scenarios) % 5, items // scenarios)


def guess(ridge: NestedRidge, labels: np.ndarray) -> np.ndarray:
    return ridge.guess(labels[:, None])[:, 0]


def test_what_holds_in_every_scenario_is_learnt() -> None:
    columns = np.random.default_rng(0).normal(size=(200, 6))
    labels = (columns[:, 0] > 0).astype(np.int64)
    ridge = NestedRidge(columns, folds(200), np.ones(200, bool))
    assert np.mean(guess(ridge, labels) == labels) > 0.9


def test_what_tells_the_label_in_its_own_scenario_alone_is_not_learnt() -> None:
    # One column a scenario, which tells the label there and is 0 everywhere else.
    scenarios = np.repeat(np.arange(10), 40)
    labels = np.random.default_rng(0).integers(0, 2, 400)
    columns = np.where(scenarios[:, None] == np.arange(10), 2.0 * labels[:, None] - 1, 0.0)
    ridge = NestedRidge(columns, scenarios % 5, np.ones(400, bool))
    assert np.mean(guess(ridge, labels) == labels) < 0.6


def test_dimensions_are_guessed_together_as_they_are_one_by_one() -> None:
    columns = np.random.default_rng(0).normal(size=(200, 6))
    labels = np.column_stack([columns[:, 0] > 0, np.digitize(columns[:, 1], (-0.5, 0.5))])
    ridge = NestedRidge(columns, folds(200), np.ones(200, bool))
    together = ridge.guess(labels.astype(np.int64))
    for place in range(2):
        assert (
            guess(ridge, labels[:, place].astype(np.int64)).tolist() == together[:, place].tolist()
        )


def test_lines_that_are_only_guessed_are_not_learnt_from() -> None:
    columns = np.random.default_rng(0).normal(size=(200, 4))
    labels = (columns[:, 0] > 0).astype(np.int64)
    learnt = np.arange(200) % 2 == 0
    ridge = NestedRidge(columns, folds(200), learnt)
    guessed = guess(ridge, labels)
    assert guessed.tolist() == guess(ridge, np.where(learnt, labels, 1 - labels)).tolist()
    assert np.mean(guessed[~learnt] == labels[~learnt]) > 0.9


def test_what_stood_before_a_line_is_known_without_the_line_and_its_question() -> None:
    answers = (
        AuditedAnswer(3, "No.", {"veracity": "lie"}, "Is it yours?"),
        AuditedAnswer(5, "Never.", {"veracity": "lie"}, "Since when?"),
    )
    dialogue = AuditedDialogue(
        case="c", pair="p", arm="a", scenario="s", fact="f", goal="deception", answers=answers,
        opening="Nice car.\nThanks.\nIs it yours?",
    )  # fmt: skip
    first, second = lines_of(dialogue)
    assert (first.history, first.question) == (("Nice car.", "Thanks."), "Is it yours?")
    assert second.history == ("Nice car.", "Thanks.", "Is it yours?", "No.")
    assert (second.question, second.line) == ("Since when?", "Never.")


def test_lines_of_one_scenario_only_are_not_shared() -> None:
    items = [item("a", "No.", "lie"), item("b", "No.", "lie"), item("b", "Yes.", "lie")]
    assert shared_lines(items) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (("offline/rules",), "Template recognition: 1 lines by offline/rules"),
        (("openai/x",), "Learnt from 1 lines by openai/x"),
        (("offline/rules", "openai/x"), "Learnt from 1 lines by offline/rules, openai/x"),
    ],
)
def test_what_rules_made_is_headed_template_recognition(models, said) -> None:
    sets = ProbeSets((item("a", "No.", "lie"),), (), (), models)
    assert heading(sets) == said


def test_a_page_has_the_floors_above_the_readers() -> None:
    items = tuple(item(name, f"{name}{n}", "lie") for name in NAMES[:3] for n in range(2))
    sets = ProbeSets(items, (), (), ("offline/rules",))
    scores = [score("label", "line alone", "veracity", items, ["lie"] * 6)]
    lines = page(sets, scores).splitlines()
    assert "| *commonest label of the scenario* | *1.000* |" in lines
    assert "| line alone | 1.000 (+0.000, +0.000 to +0.000) |" in lines


def test_shortcuts_are_probes_of_the_audit_without_whole_lines() -> None:
    known = {one.name for one in PROBES}
    assert set(SHORTCUTS) <= known
    assert not set(SHORTCUTS) & {"line", "opening", "line before", "labels"}


def test_gold_lines_come_with_the_text_of_their_fact_their_question_and_every_label() -> None:
    gold = list(gold_probe_items())
    assert {one.scenario for one in gold} == set(scenarios_with("gold"))
    for one in gold:
        assert isinstance(one.fact, str)
        assert one.fact
        assert one.question
        assert set(one.labels) == set(probe.DIMENSIONS)
