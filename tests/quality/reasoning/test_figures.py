import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.reasoning.binary_matrix import binary_matrix, cell
from quality.reasoning.figures import reasoning_figures
from quality.reasoning.form import read_form
from quality.reasoning.gold import gold
from tests.quality.reasoning.logs import corrected, right, sample

HEADER = "file,game,attempts,orig_cor,fin_cor,err_type,sentence\n"


def forms(tmp_path, *tables):
    read = []
    for number, rows in enumerate(tables, 1):
        path = tmp_path / f"rater{number}.csv"
        path.write_text(HEADER + "".join(f"{row}\n" for row in rows))
        read.append(read_form(path))
    return read


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_the_figures_are_those_of_the_textbook(cases):
    matrix = binary_matrix(cases)
    hits = sum(predicted and true for predicted, true in cases)
    said, are = sum(p for p, _ in cases), sum(t for _, t in cases)
    assert matrix.total == len(cases)
    assert matrix.accuracy == sum(p == t for p, t in cases) / len(cases)
    assert matrix.precision == (hits / said if said else None)
    assert matrix.recall == (hits / are if are else None)
    if matrix.precision and matrix.recall:
        harmonic = 2 / (1 / matrix.precision + 1 / matrix.recall)
        assert matrix.f1 == pytest.approx(harmonic)


def test_every_cell_of_the_matrix_has_its_name():
    cells = {(p, t): cell(p, t) for p in (True, False) for t in (True, False)}
    assert cells == {
        (True, True): "TP", (True, False): "FP", (False, True): "FN", (False, False): "TN",
    }  # fmt: skip


def test_the_gold_is_right_only_where_every_rater_says_so(tmp_path):
    read = forms(
        tmp_path,
        ["a,pd,1,1,1,,", "b,pd,1,1,1,,", "c,pd,1,1,1,,", "d,pd,1,0,0,pa,"],
        ["a,pd,1,1,1,,", "b,pd,1,0,0,pc,", "c,pd,1,,,,", "d,pd,1,,,,"],
    )
    said = {name: row["original"] for name, row in gold(read).items()}
    assert said == {"a": True, "b": False, "c": None, "d": False}


def test_solver_and_raters_are_compared_by_game_and_attempt(tmp_path):
    samples = [
        sample(right(), "a_pd.txt"),
        sample(right(), "b_pd.txt"),
        sample(corrected(), "c_sh.txt", told=["pd"]),
    ]
    read = forms(
        tmp_path,
        ["a_pd,pd,1,1,1,,", "b_pd,pd,1,0,0,pa#u,x", "c_sh,pd,2,0,1,rga,y"],
        ["a_pd,pd,1,1,1,,", "b_pd,pd,1,0,0,pa,x", "c_sh,pd,2,1,1,,"],
    )
    figures = reasoning_figures(samples, read)
    matrix = figures.matrices["", "original"]
    assert (matrix.tp, matrix.fp, matrix.tn, matrix.fn) == (1, 1, 1, 0)
    rates = {(r.judge, r.stage): (r.wrong, r.total) for r in figures.error_rates if not r.game}
    assert rates["solver", "original"] == (1, 3)
    assert rates["solver", "final"] == (0, 3)
    assert rates["gold", "original"] == (2, 3)
    assert rates["rater2", "original"] == (1, 3)
    counts = {(c.error_type, c.rater): c.count for c in figures.error_types}
    assert counts["payoff assignment", "rater1"] == counts["payoff assignment", "rater2"] == 1
    assert counts["risk/gain", "rater2"] == 0
    assert {row.dimension for row in figures.agreement} == {"orig_cor", "fin_cor", "err_type"}


def test_without_forms_the_solver_alone_is_counted():
    figures = reasoning_figures([sample(corrected())], [])
    assert not figures.matrices
    assert not figures.agreement
    assert [(r.judge, r.wrong) for r in figures.error_rates] == [("solver", 1), ("solver", 0)]
    assert figures.plain()["claims"] == {
        "well_formed": 3, "malformed": 0, "failing": 1, "differing_attempts": 0,
    }  # fmt: skip
