from __future__ import annotations

import pytest

from scenarios.errors import InputError, UsageError
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import as_shipped, load_scheme, scheme_names
from scenarios.spelling import nearest


def test_every_shipped_scheme_loads_under_its_own_name():
    assert "hipo" in scheme_names()
    for name in scheme_names():
        scheme = load_scheme(name)
        assert name in (scheme.id, scheme.name)


def test_an_id_is_the_newest_version_and_a_version_is_exactly_that_one():
    assert load_scheme("hipo") == load_scheme("hipo@2")
    assert [load_scheme(name).version for name in ("hipo", "hipo@1")] == [2, 1]
    with pytest.raises(UsageError, match="unknown scheme 'hipo@3'"):
        load_scheme("hipo@3")


def test_a_scheme_keeps_the_hash_it_was_stored_under_before_readers_had_dimensions():
    # Computed before schemes had procedures and dimensions for readers.
    assert load_scheme("hipo@1").fingerprint.startswith("6ea5f4f3c1")


def test_a_change_of_what_speakers_declare_is_a_new_version():
    # Version 1 (6cbd34264c...) asked the speaker, too, how sure a reader is.
    assert load_scheme("cei").name == "cei@2"
    assert load_scheme("cei").fingerprint.startswith("9107783e86")


def test_judges_of_a_stored_scheme_are_asked_what_judges_of_the_shipped_one_are():
    shipped = load_scheme("hipo@1")
    stored = shipped.model_copy(update={"dimensions": shipped.declared})
    assert [d.id for d in as_shipped(stored).dimensions][-2:] == ["coherence", "misled"]
    changed = stored.model_copy(update={"title": "Mine"})
    assert as_shipped(changed) is changed


def test_a_mistyped_name_is_answered_with_the_nearest_and_the_list():
    with pytest.raises(UsageError, match="did you mean 'hipo'") as error:
        load_scheme("hipoo")
    assert "schemes:" in error.value.hint


def test_a_name_of_which_only_the_beginning_was_written_is_suggested():
    fields = ["scenarios", "scenario_dirs", "only_scenario_dirs", "max_requests", "max_tokens"]
    assert nearest("only", fields) == "only_scenario_dirs"
    assert nearest("max", fields) is None, "it is the beginning of two"
    assert nearest("scenario", fields) == "scenarios", "what is spelled most like it goes before"


def test_a_scheme_of_ones_own_is_given_by_its_path(tmp_path):
    path = tmp_path / "mood.yaml"
    path.write_text(
        "id: mood\ntitle: Mood\nassigned: mood\ndimensions:\n"
        "  - {id: mood, level: dialogue, question: q, labels: "
        "[{id: up, definition: d}, {id: down, definition: d}]}\n"
    )
    assert load_scheme(str(path)).goal.values == ("up", "down")


def test_a_broken_scheme_is_told_by_line(tmp_path):
    path = tmp_path / "mood.yaml"
    path.write_text("id: mood\ntitle: Mood\nassigned: mood\ndimensions: []\n")
    with pytest.raises(InputError, match=r"mood\.yaml:4: dimensions: found an empty list"):
        load_scheme(str(path))


def test_a_path_that_does_not_exist_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_scheme(str(tmp_path / "absent.yaml"))


def emotions(**changes):
    labels = [{"id": name, "definition": "A feeling."} for name in "abcd"]
    feeling = {"id": "feeling", "level": "utterance", "question": "Which?", "labels": labels}
    scale = {
        "id": "valence", "level": "utterance", "question": "How pleasant?",
        "measurement": "interval", "range": [-1, 1],
    }  # fmt: skip
    return {"id": "mine", "title": "Mine", "dimensions": [feeling | changes, scale]}


def test_wheel_and_polarity_change_no_dialogue_and_so_no_hash():
    labels = [{"id": n, "definition": "A feeling.", "polarity": "negative"} for n in "abcd"]
    plain = Scheme.model_validate(emotions())
    told = Scheme.model_validate(emotions(wheel=True, polarity_on="valence", labels=labels))
    assert told.dimension("feeling").labels[0].polarity == "negative"
    assert told.fingerprint == plain.fingerprint


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"polarity_on": "arousal"}, "polarity_on: 'arousal' is no interval dimension"),
        ({"polarity_on": "feeling"}, "polarity_on: 'feeling' is no interval dimension"),
        ({"wheel": True, "measurement": "ordinal"}, "wheel: only four or more labels"),
        (
            {"labels": [{"id": n, "definition": "x", "polarity": "neutral"} for n in "ab"]},
            "polarity_on must name the scale",
        ),
    ],
)
def test_a_wheel_or_polarity_that_means_nothing_is_refused(changes, found):
    with pytest.raises(ValueError, match=found):
        Scheme.model_validate(emotions(**changes))


def test_opposite_emotions_of_the_wheel_of_cei_are_four_apart():
    emotion = load_scheme("cei").dimension("emotion")
    assert emotion.wheel
    opposites = {("joy", "sadness"), ("trust", "disgust"), ("fear", "anger")}
    opposites.add(("surprise", "anticipation"))
    assert set(zip(emotion.values[:4], emotion.values[4:], strict=True)) == opposites


def test_people_are_asked_how_sure_they_are_and_nothing_that_only_checks_dialogues():
    asked = [d.id for d in load_scheme("cei").people_dimensions("utterance")]
    assert asked == ["emotion", "valence", "arousal", "dominance", "confidence"]
    asked = [d.id for d in load_scheme("hipo").people_dimensions("utterance")]
    assert asked == ["intention", "veracity", "illocutionary"]
    assert "misled" not in [d.id for d in load_scheme("hipo").people_dimensions("dialogue")]
