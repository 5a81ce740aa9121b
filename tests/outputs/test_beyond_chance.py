"""What stands beside agreement tells judges apart that agreement alone does not."""

from __future__ import annotations

from random import Random

import pytest

from outputs.reliability.beyond_chance import beyond_chance
from outputs.reliability.chairs import one_program_in_two_chairs
from pipeline.store.queries.report_rows import NamedCount
from tests.factories import make_scheme

HIPO = make_scheme()
VERACITY = HIPO.dimension("veracity").values
USUAL = {"deception": "Quality", "truthful non-disclosure": "None"}


def items(count=600):
    """Return (scenario, goal, declared): under each goal one label is declared mostly."""
    draw = Random(5)
    return [
        (f"s{n % 6}", goal, USUAL[goal] if draw.random() < 0.7 else draw.choice(VERACITY))
        for n in range(count)
        for goal in USUAL
    ]


def figures(judge, second=lambda goal, declared: None):
    counts = [
        NamedCount("external", "m", "veracity", scenario, goal, declared, judge(goal, declared),
                   second(goal, declared), 1)
        for scenario, goal, declared in items()
    ]  # fmt: skip
    (found,) = beyond_chance(HIPO, counts)
    return found


def test_a_judge_that_is_right_is_far_above_what_shuffled_labels_give():
    found = figures(lambda goal, declared: declared)
    assert (found.same, found.kappa, found.items) == (1.0, pytest.approx(1.0), 1200)
    assert found.shuffled < 0.65
    assert found.runner_up is None


def test_a_judge_that_names_the_usual_label_of_the_goal_is_no_better_than_shuffled_ones():
    found = figures(lambda goal, declared: USUAL[goal])
    assert found.same > 0.7
    assert found.same == pytest.approx(found.shuffled)


def test_a_judge_that_answers_by_the_marginals_has_no_kappa():
    draw = Random(1)
    declared = [label for _, _, label in items()]
    found = figures(lambda goal, label: draw.choice(declared))
    assert abs(found.kappa) < 0.06
    assert abs(found.same - found.shuffled) < 0.06


def test_the_runner_up_is_counted_among_those_that_differ():
    wrong = {label: VERACITY[n - 1] for n, label in enumerate(VERACITY)}
    found = figures(
        lambda goal, declared: wrong[declared],
        lambda goal, declared: declared if declared != "Manner" else "Quality",
    )
    manner = sum(label == "Manner" for _, _, label in items())
    assert found.same == 0.0
    assert found.runner_up == pytest.approx(1 - manner / 1200)


def test_the_same_counts_give_the_same_figures():
    draw = Random(3)
    counts = [
        NamedCount("self", "m", "veracity", s, g, label, draw.choice(VERACITY), None, 2)
        for s, g, label in items(40)
    ]
    assert beyond_chance(HIPO, counts) == beyond_chance(HIPO, counts)


def test_goals_are_shuffled_within_scenarios_since_a_goal_has_one_label():
    counts = [
        NamedCount("self", "m", "goal", "s", goal, goal, "deception", None, 10) for goal in USUAL
    ]
    (found,) = beyond_chance(HIPO, counts)
    assert (found.same, found.kappa, found.shuffled) == (0.5, pytest.approx(0.0), 0.5)


def test_an_item_that_is_alone_in_its_scenario_says_nothing_about_shuffled_labels():
    alone = [
        NamedCount("self", "m", "goal", f"alone {n}", goal, goal, goal, None, 1)
        for n, goal in enumerate([*USUAL] * 20)
    ]
    alone.append(NamedCount("self", "m", "goal", "one goal", *["deception"] * 3, None, 9))
    (found,) = beyond_chance(HIPO, alone)
    assert (found.same, found.shuffled) == (1.0, None)
    together = [NamedCount("self", "m", "goal", "s", goal, goal, goal, None, 50) for goal in USUAL]
    (found,) = beyond_chance(HIPO, [*alone, *together])
    assert found.shuffled == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("writers", "own", "external", "said"),
    [
        (["a/x"], ["a/x"], ["a/y"], []),
        (["a/x"], ["a/x"], ["b/x"], ["b/x wrote", "b/x is the self-judge"]),
        (["offline/rules"], ["offline/judge"], ["offline/judge"], ["offline/judge is the self"]),
        (["a/x"], [], ["strict=a/x"], ["strict=a/x wrote"]),
    ],
)
def test_one_program_in_two_chairs_is_said_to_be_that(writers, own, external, said):
    notes = one_program_in_two_chairs(writers, own, external)
    assert len(notes) == len(said)
    assert all(note.startswith(begins) for note, begins in zip(notes, said, strict=True))
