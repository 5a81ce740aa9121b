from quality.disagreement.adjudication import ExpertLabel
from quality.disagreement.report import disagreement_report
from tests.quality.disagreement.tables import FEELING, SCHEME, said
from tests.quality.stats_tables import dimension

ANSWERS = said({"x": "sad glad cross", "y": "sad sad sad"}, {"x": "-1 -1 -1", "y": "-1 0 0"})


def test_a_report_holds_every_part_for_all_items_and_for_groups():
    found = disagreement_report(
        SCHEME, FEELING, ANSWERS, groups={"x": "a", "y": "b"}, gold={"x": "sad", "y": "sad"},
        expert={"x": ExpertLabel("cross", "by the ratings")},
    )  # fmt: skip
    for rows in (found.difficulty, found.adjacency, found.split_polarity, found.polarity_matches):
        assert [row.group for row in rows] == ["", "a", "b"]
    assert found.references[0].same == 4
    assert [one.item for one in found.to_adjudicate] == ["x"]
    assert [(row.item, row.label) for row in found.gold] == [("x", "cross"), ("y", "sad")]
    assert {row.dimension for row in found.means} == {"valence"}


def test_labels_with_neither_wheel_nor_polarity_nor_gold_leave_those_parts_empty():
    found = disagreement_report(SCHEME, dimension("nominal"), said({"x": "a b a"}, name="d"))
    assert (found.adjacency, found.split_polarity, found.polarity_matches) == ((), (), ())
    assert (found.references, found.means) == ((), ())
    assert found.difficulty[0].majority == 1
