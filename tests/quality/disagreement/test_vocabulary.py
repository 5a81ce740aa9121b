from quality.agreement.annotations import RawAnswer
from quality.disagreement.vocabulary import vocabulary_table
from scenarios.schemes.registry import load_scheme
from tests.quality.disagreement.tables import SCHEME

CEI_TABLE_6 = {
    "sarcasm": "disgust", "pride": "joy", "gratitude": "joy", "disappointment": "sadness",
    "relief": "joy", "guilt": "sadness", "amusement": "joy", "concern": "trust",
    "reassurance": "trust", "frustration": "anger", "defiance": "anger", "embarrassment": "fear",
    "evasion": "fear", "curiosity": "anticipation", "playful": "joy", "avoidance": "fear",
    "defense": "fear", "resignation": "sadness", "satisfaction": "joy",
}  # fmt: skip


def raw(*values, annotator="model", dimension="feeling"):
    return [RawAnswer(str(i), dimension, annotator, value) for i, value in enumerate(values)]


def test_answers_are_counted_by_how_they_were_worded():
    (row,) = vocabulary_table(
        SCHEME, raw("sad", "Sad", "merry", "merry", "banana  split", None, " ", 3)
    )
    assert row.answers == 8
    assert row.in_vocabulary == 2
    assert row.harmonised == {("merry", "glad"): 2}
    assert row.unreadable == {"banana split": 1, "3": 1}
    assert row.blank == 2


def test_each_annotator_and_dimension_has_a_row_in_the_order_of_the_scheme():
    rows = vocabulary_table(
        SCHEME,
        [*raw(0.5, "x", dimension="valence"), *raw("sad"), *raw("sad", annotator="Ada"),
         *raw("y", dimension="mood")],
    )  # fmt: skip
    assert [(r.annotator, r.dimension) for r in rows] == [
        ("Ada", "feeling"), ("model", "feeling"), ("model", "valence"),
    ]  # fmt: skip
    assert rows[2].unreadable == {"x": 1}


def test_all_words_of_the_printed_table_are_taken_for_the_printed_emotion():
    rows = raw(*CEI_TABLE_6, dimension="emotion")
    (row,) = vocabulary_table(load_scheme("cei"), rows)
    assert dict(row.harmonised) == dict.fromkeys(CEI_TABLE_6.items(), 1)
    assert not row.unreadable
