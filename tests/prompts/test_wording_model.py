from __future__ import annotations

import tracemalloc

import pytest

from prompts import wording_model as wording_model_module
from prompts.refusals import WEIGHTS as REFUSAL_WEIGHTS
from prompts.wording_model import (
    SCALE,
    WordClasses,
    WordingModel,
    features,
    wording_model,
)
from quality.gates.goal_stated import WEIGHTS as GOAL_WEIGHTS

MODEL = WordingModel(
    classes={"WEATHER": "rain* sun", "SELF": "i"},
    intercept=-100,
    threshold=0,
    weights={"c WEATHER": 400, "b SELF WEATHER": 500, "not": -900},
)


def test_a_text_is_seen_as_words_side_by_side_their_stems_and_the_classes_that_stand_in_it():
    seen = features("I like RAINING", WordClasses(MODEL.classes))
    assert {"< i", "i like raining", "raining >", "p raini", "c WEATHER", "b SELF WEATHER"} <= seen
    assert "i raining" not in seen


def test_shortened_words_are_spelt_out_and_quotes_are_straight():
    none = WordClasses({})
    assert features("I can\u2019t, won\u2019t", none) == features("i cannot will not", none)


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("I couldn't've", "i could not have"),
        ("we'dn't, let's", "we would not, let us"),
        ("shan't they've", "shall not they have"),
        ("scan't 'mad", "sca not 'mad"),
    ],
)
def test_words_that_are_shortened_twice_are_spelt_out_as_well(short, long):
    assert wording_model_module._words(short) == wording_model_module._TOKEN.findall(long)


@pytest.mark.parametrize(
    "written", ['"{}"', "\u201c{}\u201d", "Seller: {}", 'Mr Bell: "{}"', "({})"]
)
def test_the_form_that_a_program_gives_a_line_changes_nothing(written):
    none, said = WordClasses({}), "It was resprayed. Why do you ask?"
    assert features(written.format(said), none) == features(said, none)
    assert features(f"Draft: {said}", none) != features(said, none)


def test_what_speaks_against_the_others_takes_points_away():
    assert MODEL.found("I like rain") == "I like rain"
    assert MODEL.found("I do not like rain") is None


def test_the_sentence_that_says_it_most_is_told():
    assert MODEL.found("It is late. I like the sun! Is it?") == "I like the sun!"


def test_a_text_without_a_word_is_nothing():
    assert MODEL.found("") is None
    assert MODEL.found("\u5929\u6c14 ...") is None


@pytest.mark.parametrize("path", [REFUSAL_WEIGHTS, GOAL_WEIGHTS], ids=lambda path: path.stem)
def test_no_single_feature_of_a_shipped_model_is_enough(path):
    model = wording_model(path)
    assert 1000 < len(model.weights) < 20_000
    assert model.intercept + max(model.weights.values()) / 20**0.5 < model.threshold + 5 * SCALE
    assert model.found("Good morning.") is None
    assert path.stat().st_size < 300_000


def test_words_that_never_come_again_are_not_remembered_for_ever(monkeypatch):
    most_words = 2_000
    monkeypatch.setattr(wording_model_module, "REMEMBERED", most_words)
    classes, made_up = WordClasses({"rain": " rain* "}), map("word{}".format, range(6 * most_words))
    tracemalloc.start()
    for word in made_up:
        classes.of(word)
    held, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert classes.of("raining") == ("rain",)
    assert held <= most < most_words * 250
