"""The family ``social``: 25 scenes for one remark, over subtypes, settings and standings."""

from __future__ import annotations

from itertools import product

import pytest

from quality.agreement.annotations import Answer, read_value
from quality.annotation_qc.qc import self_contradictions
from quality.disagreement.coherence import polarity_match
from scenarios.inspection import inspect_files
from scenarios.lines.library import flow_lines
from scenarios.pack import FAMILIES, LIBRARY_PLUS, read_scenario, scenario_files
from scenarios.schemes.registry import load_scheme
from scenarios.wording import sentences, shingles, words

CEI = load_scheme("cei")


def of_scheme(root):
    read = [read_scenario(path, root)[0] for path in scenario_files(root)]
    return [scenario for scenario in read if scenario.scheme == "cei"]


SCENARIOS = of_scheme(FAMILIES)


def test_the_family_has_no_problem_and_no_warning():
    for setting in CEI.categories:
        assert inspect_files([FAMILIES / setting]).problems == ()


def test_every_subtype_stands_in_every_setting_and_in_every_standing():
    places = {(s.goals, s.category) for s in SCENARIOS}
    assert places == {((g,), c) for g, c in product(CEI.goals, CEI.categories)}
    standings = {(s.goals, s.tags) for s in SCENARIOS}
    assert standings == {((g,), (t,)) for g, t in product(CEI.goals, CEI.tags)}
    assert {(s.category, s.tags) for s in SCENARIOS} == {
        (c, (t,)) for c, t in product(CEI.categories, CEI.tags)
    }
    assert len(SCENARIOS) == 25


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.id)
def test_one_speaks_and_is_labelled_and_the_other_listens(scenario):
    assert scenario.labelled_roles == ("speaker",)
    assert not scenario.roles["listener"].speaks
    assert [phase.who for phase in scenario.flow] == [("speaker",)]
    assert scenario.facts == ()
    assert scenario.sources == "fictional"


def test_worked_examples_come_from_scenes_of_their_own():
    examples = of_scheme(LIBRARY_PLUS)
    assert len(examples) >= 3
    assert len({s.goals for s in examples}) == len(examples)
    assert not {s.background for s in examples} & {s.background for s in SCENARIOS}


def said():
    """Yield each line with its scene and the scale of its labels."""
    for scenario in SCENARIOS:
        ((moment,),) = [flow_lines(scenario.id).flow["remark"]["speaker"]]
        yield from ((scenario, line) for line in moment)


def test_every_scene_has_lines_of_four_emotions_or_more():
    emotions = {}
    for scenario, line in said():
        emotions.setdefault(scenario.id, []).append(line.labels["emotion"])
    assert set(emotions) == {scenario.id for scenario in SCENARIOS}
    assert all(len(set(found)) == len(found) >= 4 for found in emotions.values())
    assert {e for found in emotions.values() for e in found} == set(CEI.dimension("emotion").values)


def test_every_line_is_labelled_on_every_dimension_that_a_speaker_declares():
    for scenario, line in said():
        assert set(line.labels) == {d.id for d in CEI.utterance_dimensions}, scenario.id
        for dimension in CEI.utterance_dimensions:
            assert read_value(dimension, line.labels[dimension.id]) is not None, line.text


def test_valence_follows_the_emotion_of_a_line():
    answers = [
        Answer(line.text, name, scenario.id, value)
        for scenario, line in said()
        for name, value in line.labels.items()
    ]
    emotion, valence = CEI.dimension("emotion"), CEI.dimension("valence")
    (found,) = polarity_match(emotion, valence, answers)
    assert (found.opposite, found.answers > 100) == (0, True)
    assert self_contradictions(CEI, answers) == []


def test_nobody_says_more_than_two_sentences_or_what_somebody_else_says():
    texts = [line.text for _, line in said()]
    assert len(set(texts)) == len(texts)
    assert all(len(sentences(text)) <= 2 for text in texts)
    assert all(5 <= len(words(text)) <= 45 for text in texts)
    runs = [shingles(text, 7) for text in texts]
    assert sum(map(len, runs)) == len(frozenset().union(*runs))
