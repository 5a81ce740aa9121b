import orjson
import pytest

from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.scores import ClusteredEstimate, EvaluationScores, ModelComparison
from quality.statistics.bootstrap import Interval
from scenarios.errors import UsageError


def comparison() -> ModelComparison:
    return ModelComparison(
        reference="declared",
        task="hipo-utterance",
        mode="zero-shot",
        dimension="veracity",
        first="a/one",
        second="b/two",
        n=12,
        cases=4,
        left_out=1,
        accuracy=ClusteredEstimate(0.25, Interval(0.0, 0.5)),
        macro_f1=ClusteredEstimate(None),
        p=0.125,
        exact=True,
        p_holm=None,
    )


def test_what_is_written_as_json_is_read_back_the_same() -> None:
    scores = EvaluationScores(comparisons=(comparison(),))
    assert EvaluationScores.from_dict(orjson.loads(orjson.dumps(scores.to_dict()))) == scores


def test_undefined_is_null_in_the_file() -> None:
    (row,) = EvaluationScores(comparisons=(comparison(),)).to_dict()["comparisons"]
    assert row["macro_f1"] == {"value": None, "by_case": None, "by_scenario": None}


def test_a_file_of_another_kind_is_refused_with_the_place_of_what_is_wrong() -> None:
    with pytest.raises(UsageError, match=r"x\.json: scores\.0\.reference: Field required"):
        EvaluationScores.from_dict({"scores": [{}]}, source="x.json")
    with pytest.raises(UsageError, match=r"version: Input should be 1"):
        EvaluationScores.from_dict({"version": 2})


def test_an_answer_is_missing_just_where_something_went_wrong() -> None:
    with pytest.raises(ValueError, match="missing just where it has a fault"):
        ScoredAnswer("i", "c", "s", "d", reference="a", answer=None)
    with pytest.raises(ValueError, match="missing just where it has a fault"):
        ScoredAnswer("i", "c", "s", "d", reference="a", answer="a", fault="refused")
    found = ScoredAnswer("i", "c", "s", "d", reference="a", answer="a", options=("b", "a"))
    assert found.right
    assert found.position == 1
