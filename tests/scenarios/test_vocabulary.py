from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scenarios.schemes.model import Dimension, Label
from scenarios.schemes.registry import load_scheme, scheme_names
from scenarios.schemes.vocabulary import resolve_label

_named = [
    (dimension, label.id, name)
    for scheme in map(load_scheme, scheme_names())
    for dimension in scheme.dimensions
    for label in dimension.labels
    for name in (label.id, *label.aliases)
]
_single = [row for row in _named if row[0].measurement in ("nominal", "ordinal")]
_edges = st.text(alphabet=string.whitespace + ".,:;!?\"'()*`-_", max_size=4)


@given(st.sampled_from(_single), _edges, _edges, st.randoms(use_true_random=False))
def test_every_alias_resolves_in_any_case_with_any_space_and_punctuation(row, before, after, rng):
    dimension, label, name = row
    signs = "+-" if name.endswith(("+", "-")) else ""  # there a sign is a letter: hneg+, hneg-
    letters = [rng.choice([c.upper(), c.lower()]) for c in name]
    between = [" ", "  ", ""] if signs else [" ", "-", "_", "  ", ""]
    spelled = "".join(c if c.isalnum() or c in signs else rng.choice(between) for c in letters)
    written = before + spelled + after
    assert resolve_label(dimension, written) == (label, written != label)


@pytest.mark.parametrize("written", ["**hneg+**.", "`HNEG +`", "h-neg+"])
def test_a_sign_at_the_end_of_a_name_tells_two_labels_apart(written):
    face_act = load_scheme("face_acts").dimension("face_act")
    assert resolve_label(face_act, written) == ("hneg+", True)
    minus = written.replace("+", "\N{MINUS SIGN}")
    assert resolve_label(face_act, minus) == ("hneg-", True)
    assert resolve_label(face_act, written.replace("+", "")) is None


@given(st.sampled_from([row[0] for row in _single]), st.text(max_size=30))
def test_whatever_resolves_is_a_label_and_resolves_to_itself(dimension, text):
    found = resolve_label(dimension, text)
    if found is not None:
        assert found[0] in dimension.values
        assert resolve_label(dimension, found[0]) == (found[0], False)


_names = st.text(alphabet="abAB +-.", min_size=1, max_size=4).map(str.strip).filter(bool)


@given(st.lists(_names, min_size=4, max_size=8, unique_by=str.casefold))
@example(["ab", "x", "a  b", "y"])
@example(["a.b", "x", "a-b", "y"])
def test_a_spelling_that_fits_two_labels_fits_none_unless_it_is_exact(names):
    labels = tuple(
        Label(id=a, definition="d", aliases=(b,))
        for a, b in zip(names[::2], names[1::2], strict=False)
    )
    dimension = Dimension(id="d", level="utterance", question="q", labels=labels)
    for label in labels:
        for name in (label.id, *label.aliases):
            assert resolve_label(dimension, name) == (label.id, name != label.id)
    for bare in ("ab", "A B", "b-a", "aa", "b"):
        key = "".join(c for c in bare.casefold() if c.isalnum())
        fitting = {
            label.id
            for label in labels
            for name in (label.id, *label.aliases)
            if "".join(c for c in name.casefold() if c.isalnum()) == key
        }
        # but for case and the width of spaces, and for a sign that only one of them ends with
        spelled = [n.casefold() for x in labels for n in (x.id, *x.aliases)]
        exact = {" ".join(name.split()) for name in spelled}
        signed = any(name.rstrip(" .").endswith(("+", "-")) for name in spelled)
        if len(fitting) > 1 and bare.casefold() not in exact and not signed:
            assert resolve_label(dimension, bare) is None


@pytest.mark.parametrize(
    "raw", [None, False, True, [], {}, "", "  ", "Qualityy", "Quality or Manner", 3, 2.5]
)
def test_what_names_no_label_is_none(hipo, raw):
    assert resolve_label(hipo.dimension("veracity"), raw) is None


def test_the_label_called_none_is_a_label(hipo):
    assert resolve_label(hipo.dimension("veracity"), "none") == ("None", True)


def test_an_ordinal_label_may_be_written_as_a_number():
    labels = tuple(Label(id=str(i), definition="d") for i in (1, 2, 3))
    scale = Dimension(id="s", level="utterance", measurement="ordinal", question="q", labels=labels)
    assert resolve_label(scale, 2) == ("2", True)
    assert resolve_label(scale, 3.0) == ("3", True)
    assert resolve_label(scale, "2") == ("2", False)
    assert resolve_label(scale, 4) is None


def test_several_labels_come_in_the_order_of_the_dimension(hipo):
    several = hipo.dimension("intention").model_copy(update={"measurement": "multi"})
    assert resolve_label(several, ["Affect", "Inform"]) == (("Inform", "Affect"), False)
    assert resolve_label(several, "affect; Inform") == (("Inform", "Affect"), True)
    assert resolve_label(several, ["Inform", "know"]) == (("Inform",), True)
    assert resolve_label(several, ["Inform", "Nonsense"]) is None
    assert resolve_label(several, []) == ((), False)
    assert resolve_label(several, "Motivate") == (("Motivate",), True)


@given(st.floats(allow_nan=True) | st.integers(-5, 5))
def test_a_number_counts_only_within_its_range(value):
    dimension = Dimension(
        id="v", level="utterance", measurement="interval", question="q", range=(-1.0, 1.0)
    )
    found = resolve_label(dimension, value)
    assert found == ((float(value), False) if -1 <= value <= 1 else None)
    if found is not None and abs(value) > 1e-4:
        assert resolve_label(dimension, f" {value:.10f} ") == (round(float(value), 10), True)


@pytest.mark.parametrize("raw", ["nan", "inf", "1e0", "--1", "0,5", True, None, [0.5]])
def test_what_is_no_plain_number_is_none(raw):
    dimension = Dimension(
        id="v", level="utterance", measurement="interval", question="q", range=(-1.0, 1.0)
    )
    assert resolve_label(dimension, raw) is None


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("none of them", ((), False)), (["none of them"], ((), False)), ("None", ((), True)),
        (["NONE"], ((), True)), ([], ((), False)), (["none", "logic"], None), ("", None),
    ],
)  # fmt: skip
def test_none_of_several_labels_can_be_written(written, found):
    assert resolve_label(load_scheme("cobra").dimension("reasons"), written) == found


def test_a_label_called_none_goes_before_none_of_the_labels():
    labels = (Label(id="None", definition="d"), Label(id="b", definition="d"))
    several = Dimension(id="d", level="utterance", measurement="multi", question="q", labels=labels)
    assert resolve_label(several, "none") == (("None",), True)
    assert resolve_label(several, "none of them") == ((), False)
