"""Tables for a paper: names stand as they are, and what pdflatex cannot set is told."""

from __future__ import annotations

from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.own_results import own_results
from outputs.result_tables.latex import results_as_latex
from outputs.result_tables.paper import paper_results
from quality.evaluation.scoring_results import score_results
from tests.outputs.evaluation.test_own_results import QUICK, by_hand


def test_a_table_for_a_paper_sets_names_as_they_stand_and_keeps_its_notes():
    made, found = by_hand({"lab/a_b&c$": (0, 1, 0, 0), "[x]\\input{y}": (0, 0, 0, 0)})
    one = Evaluated(made, score_results(found, made.set.labels, how=QUICK))
    text = results_as_latex([own_results([one])])
    assert r"lab/a\_b\&c\$ & declared & 75.0 & 73.3 \\" in text
    assert r"{[}x]\textbackslash{}input\{y\} & declared & 50.0 & 33.3 \\" in text
    assert text.count(r"\begin{tabular}{llrr}") == text.count(r"\end{tabular}}") == 1
    assert "\n% Whole conversations, goal, declared labels: 4 items of 4 cases" in text
    printed = results_as_latex([paper_results()])
    assert r"\textbf{54.0}" in printed
    assert r"\underline{73.5}" in printed


def test_a_table_for_a_paper_says_which_letters_pdflatex_lacks():
    names = ("models--lab---x", "*x", "caf\u0065\u0301 `x`", "a\u200bb\x07", "\u6a21\u578b/one")
    made, found = by_hand(dict.fromkeys(names, (0, 1, 0, 0)))
    one = Evaluated(made, score_results(found, made.set.labels, how=QUICK))
    text = results_as_latex([own_results([one])])
    shown = [line.partition(" & ")[0] for line in text.splitlines() if "& declared & 75.0" in line]
    assert shown[:5] == [
        "models-{}-{}lab-{}-{}-x", "{*}x", "caf\u00e9 \\textasciigrave{}x\\textasciigrave{}", "ab",
        "\u6a21\u578b/one",
    ]  # fmt: skip
    assert r"% and \usepackage[T1]{fontenc}" in text
    assert "\n% pdflatex has no \u6a21 \u578b: take lualatex" in text
    assert "% and" not in results_as_latex([paper_results()])
