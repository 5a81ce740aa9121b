"""What is said of figures: who is ahead, differences in points, reasons by letter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from outputs.evaluation.ahead import ahead_in_words
from outputs.evaluation.cells import points
from outputs.report.page import Page, ReportSection, Table, render_page
from outputs.report.wording import NOTHING
from quality.evaluation.scores import ClusteredEstimate, ModelComparison
from tests.outputs.evaluation.evaluation_page import table
from tests.outputs.html_tree import XHTML, parsed, words_of

PAIR = ModelComparison(
    reference="declared",
    task="t",
    mode="zero-shot",
    dimension="d",
    first="a",
    second="b",
    n=9,
    cases=9,
    left_out=0,
    accuracy=ClusteredEstimate(0.1),
    macro_f1=ClusteredEstimate(0.1),
    p=0.2,
    exact=True,
    p_holm=0.2,
)


def pair(first, second, p):
    fields = {name: getattr(PAIR, name) for name in PAIR.__dataclass_fields__}
    return ModelComparison(**fields | {"first": first, "second": second, "p_holm": p})


NOT_APART = (
    "nothing can be told apart. No two of the 3 models differ in accuracy beyond chance "
    "(smallest adjusted p 0.060)."
)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (
            [("a", "b", 0.2), ("a", "c", 0.06), ("b", "c", 0.9)],
            NOT_APART,
        ),
        (
            [("a", "b", 0.01), ("a", "c", 0.0001), ("b", "c", 0.9)],
            "a has the highest accuracy (80.0%) and is ahead of b and c (adjusted p at most 0.010).",
        ),
        (
            [("a", "b", 0.2), ("a", "c", 0.01), ("b", "c", 0.01)],
            "a has the highest accuracy (80.0%) and is ahead of c, but cannot be told apart from b.",
        ),
        (
            [("a", "b", 0.2), ("a", "c", 0.2), ("b", "c", 0.01)],
            "a has the highest accuracy (80.0%), but cannot be told apart from b and c.",
        ),
        ([("a", "b", None)], "too few cases to tell models apart."),
    ],
)
def test_only_what_differs_beyond_chance_is_called_ahead(pairs, said):
    accuracy = {"a": 0.8, "b": 0.7, "c": 0.6}
    assert ahead_in_words(accuracy, [pair(*one) for one in pairs]) == said


@pytest.mark.parametrize("one", [("a", "b", -0.2), ("b", "a", 0.2)])
def test_who_answered_fewer_items_well_is_not_called_ahead_of_who_answers_them_better(one):
    first, second, difference = one
    compared = replace(pair(first, second, 0.01), accuracy=ClusteredEstimate(difference))
    assert ahead_in_words({"a": 0.9, "b": 0.7}, [compared]) == (
        "a has the highest accuracy (90.0%) of the items that it answered, but is behind b on those"
        " that both answered."
    )


@pytest.mark.parametrize(
    ("value", "said"), [(0.0449, "+4.5"), (-0.0449, "\u22124.5"), (-0.0001, "0.0")]
)
def test_differences_are_written_in_points_with_their_sign(value, said):
    assert points(value) == said


def test_reasons_are_told_once_each_by_letter_and_columns_may_share_a_heading():
    found = Table(
        "c", ("m", "x", "y"), (("a", NOTHING, NOTHING), ("b", "1", NOTHING)),
        reasons={(0, 1): "<i>few</i>", (0, 2): "none", (1, 2): "<i>few</i>"},
        spans=(("", 1), ("both", 2)),
    )  # fmt: skip
    assert found.lettered == {"<i>few</i>": "a", "none": "b"}
    tree = parsed(render_page(Page("t", "s", (), (ReportSection("x", "X", "", (found,)),))))
    assert table(tree, "c") == {
        "": ["m", "x", "y"],
        "a": [f"{NOTHING}a", f"{NOTHING}b"],
        "b": ["1", f"{NOTHING}a"],
    }
    assert "a <i>few</i> b none" in words_of(tree)
    heads = [e for e in tree.iter(f"{XHTML}th") if e.get("scope") == "colgroup"]
    assert [(words_of(e), e.get("colspan")) for e in heads] == [("both", "2")]
