"""Forms derived from a scheme, and read back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quality.review.forms import form_values, quiz_hides, read_form, sections, shown_value
from scenarios.reviews import GivenLabel
from scenarios.schemes.model import Dimension, Label, Scheme
from scenarios.schemes.registry import load_scheme

HIPO, CEI = load_scheme("hipo"), load_scheme("cei")
MANY = Dimension(
    id="cues",
    level="utterance",
    measurement="multi",
    question="Which?",
    labels=(Label(id="tone", definition="t"), Label(id="face", definition="f")),
)
FREE = Dimension(
    id="price", level="utterance", measurement="interval", question="How much?", range=(0, 10)
)
MIXED = Scheme(
    id="mixed",
    title="Mixed",
    dimensions=(*(d for d in HIPO.dimensions if d.id == "goal"), MANY, FREE),
    assigned="goal",
)


def test_every_turn_is_asked_everything_and_the_whole_once() -> None:
    asked = sections(HIPO, [3, 5], {})
    assert [section.id for section in asked] == ["t3", "t5", "d"]
    names = [field.name for section in asked for field in section.fields]
    assert names[:3] == ["t3.intention", "t3.veracity", "t3.illocutionary"]
    assert names.count("d.goal") == 1


def test_every_label_comes_with_its_key_definition_and_example() -> None:
    veracity = sections(HIPO, [3], {})[0].fields[1]
    assert [choice.key for choice in veracity.choices] == ["1", "2", "3", "4", "5"]
    assert all(choice.definition and choice.example for choice in veracity.choices)


def test_the_quiz_has_no_none_and_no_declarations() -> None:
    assert quiz_hides(HIPO) == {"veracity": ("None",), "illocutionary": ("Declarations",)}
    veracity = sections(HIPO, [3], quiz_hides(HIPO))[0].fields[1]
    assert "None" not in [choice.value for choice in veracity.choices]


def test_points_of_a_scale_are_called_by_their_names() -> None:
    valence = sections(CEI, [3], {})[0].fields[1]
    assert valence.choices[0].title == "very unpleasant"
    assert len(valence.choices) == 7
    assert shown_value(valence.dimension, valence.dimension.point_values[3]) == "neutral (0)"


@given(st.data())
def test_what_is_filled_in_is_read_back(data: st.DataObject) -> None:
    scheme = data.draw(st.sampled_from([HIPO, CEI, MIXED]))
    asked = sections(scheme, [3, 5], {})
    labels = []
    for section in asked:
        for field in section.fields:
            d = field.dimension
            if d.measurement == "multi":
                chosen = data.draw(st.sets(st.sampled_from(d.values)))
                value = tuple(v for v in d.values if v in chosen)
            elif d.measurement == "interval":
                points = d.point_values
                value = data.draw(st.sampled_from(points) if points else st.floats(0, 10))
            else:
                value = data.draw(st.sampled_from(d.values))
            labels.append(GivenLabel(field.turn, d.id, value))
    filled = read_form(asked, form_values(asked, labels))
    assert filled.problems == {}
    assert filled.labels == tuple(labels)


def test_none_of_several_labels_is_an_answer_that_stands_alone() -> None:
    (cues,) = (f for f in sections(MIXED, [3], {})[0].fields if f.kind == "many")
    assert [(c.key, c.value, c.is_alone) for c in cues.choices][1:] == [
        ("2", "face", False), ("3", "none of them", True)
    ]  # fmt: skip
    named = MANY.model_copy(update={"labels": (Label(id="none of them", definition="n"),)})
    scheme = MIXED.model_copy(update={"dimensions": (MIXED.dimensions[0], named)})
    (cues,) = sections(scheme, [3], {})[0].fields
    assert [c.is_alone for c in cues.choices] == [False], "a label that is called so is one"
    of_named = sections(scheme, [3], {}, whole=False)
    assert read_form(of_named, {}).problems == {"t3.cues": "not answered"}
    asked = sections(MIXED, [3], {}, whole=False)
    sent = {"t3.cues": ["tone", "none of them"], "t3.price": ["1"]}
    assert read_form(asked, sent).problems == {"t3.cues": "not an answer on offer"}


@given(st.dictionaries(st.sampled_from(["t3.veracity", "d.goal", "x"]), st.lists(st.text())))
def test_whatever_is_sent_only_labels_on_offer_get_in(sent: dict[str, list[str]]) -> None:
    asked = sections(HIPO, [3], {})
    filled = read_form(asked, sent)
    for label in filled.labels:
        assert label.value in HIPO.dimension(label.dimension).values
    assert len(filled.labels) + len(filled.problems) == 4


def test_numbers_outside_of_their_range_are_refused() -> None:
    asked = sections(MIXED, [3], {})
    for text in ("11", "-1", "nan", "inf", "ten"):
        assert "t3.price" in read_form(asked, {"t3.price": [text]}).problems
