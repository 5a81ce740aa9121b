"""What readers are told of a scheme: the terms that they meet, and no others."""

from __future__ import annotations

from prompts.scheme_text import dimension_text, reader_text
from scenarios.schemes.model import Dimension, Label, Scheme
from scenarios.schemes.registry import load_scheme


def test_readers_are_told_the_terms_that_they_meet_however_these_are_written():
    labels = [{"id": "yes", "definition": "yes"}, {"id": "no", "definition": "no"}]
    question = 'Has the "speaker\'s point" been made?'
    scheme = Scheme.model_validate(
        {
            "id": "points",
            "title": "Points",
            "terms": {
                "speaker's point": "What a turn is for.",
                "turn": "A line.",
                "form": "Shape.",
            },
            "dimensions": [
                {"id": "made", "level": "utterance", "question": question, "labels": labels}
            ],
        }
    )
    told = reader_text(scheme, scheme.dimensions)["terms"]
    assert told == (("speaker's point", "What a turn is for."), ("turn", "A line."))


def test_the_points_of_a_scale_that_have_names_are_told_by_them():
    cei = load_scheme("cei")
    form = dimension_text(cei.dimension("valence")).form
    assert form.startswith(
        "A number from -1 to 1: -1 very unpleasant, -0.67 unpleasant, -0.33 mildly"
    )
    assert form.endswith("0.67 pleasant, 1 very pleasant.")
    nameless = cei.dimension("valence").model_copy(update={"anchors": ()})
    assert dimension_text(nameless).form == "A number from -1 to 1."


def test_an_empty_list_is_offered_where_no_label_says_that_none_applies():
    cues = Dimension(
        id="cues", level="utterance", measurement="multi", question="Which?",
        labels=(Label(id="tone", definition="t"), Label(id="none of them", definition="n")),
    )  # fmt: skip
    assert "empty" not in dimension_text(cues).form
    assert "empty" in dimension_text(cues.model_copy(update={"labels": cues.labels[:1]})).form
