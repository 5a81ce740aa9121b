"""What people score on the released utterances, beside a model, as the CEI paper tells of them."""

import json

import pytest

from hipo.cli.main import run
from tests.reference.cei import reference_folder

SHARES = {"sarcasm": (0.644, 12 + 32), "mixed": (0.600, 8 + 32), "deflection": (0.522, 5 + 24)}
"""By subtype, of 60: the mean share of gold labels that annotators give (section 5.3; of mixed signals
as the file has it), and how many utterances have a majority."""
UNANIMOUS = {"sarcasm": 12, "mixed": 8, "deflection": 5}
KAPPAS = {"sarcasm": 0.25, "mixed": 0.16, "deflection": 0.06}
"""Fleiss' kappa (table 4)."""


def test_people_and_their_majority_stand_beside_a_model(tmp_path, capsys):
    paths = {
        name: found[0]
        for name in SHARES
        if (found := sorted(reference_folder("cei").glob(f"*{name}*.csv")))
    }
    if not paths:
        pytest.skip("none of the three released files is here")
    folder, evaluated = tmp_path / "run", tmp_path / "evaluated"
    assert run(["import", *map(str, paths.values()), "--map", "cei", "-o", str(folder)]) == 0
    command = ["evaluate", str(folder), "--any", "--task", "cei-emotion", "--no-page"]
    assert run([*command, "--model", "offline/random", "-o", str(evaluated)]) == 0
    capsys.readouterr()
    assert run(["evaluate", "people", str(evaluated), str(folder), "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    scores = {one["model"]: one for one in printed["scores"]}
    mean = sum(SHARES[name][0] for name in paths) / len(paths)
    assert scores["people"]["accuracy"]["value"] == pytest.approx(mean, abs=5e-4)
    by_subtype = [
        group["accuracy"]["value"] for group in scores["people"]["groups"] if group["by"] == "goal"
    ]
    assert sorted(by_subtype) == pytest.approx(sorted(SHARES[n][0] for n in paths), abs=5e-4)
    alone = [one["accuracy"]["value"] for name, one in scores.items() if name.startswith("people/")]
    assert len(alone) == 3 * len(paths)
    # The printed range, of all subtypes.
    assert min(alone) >= 0.45 - 5e-4
    assert max(alone) <= 0.817 + 5e-4
    # Gold is the label of the majority, so that it is wrong just where there is none.
    most = scores["people (majority)"]
    assert most["items"] == 60 * len(paths)
    assert most["tally"]["unreadable"] == sum(60 - SHARES[name][1] for name in paths)
    assert most["accuracy"]["value"] == pytest.approx(
        sum(SHARES[name][1] for name in paths) / most["items"]
    )
    # Of the three pairs of an utterance all agree, or one of them, or none.
    agreeing = sum(SHARES[name][1] + 2 * UNANIMOUS[name] for name in paths)
    soft = {one["model"]: one for one in printed["soft_labels"]}
    assert soft["people"]["shared"]["value"] == pytest.approx(agreeing / 3 / most["items"])
    assert soft["every label alike"]["shared"]["value"] == pytest.approx(1 / 8)
    # A model that answers once gives the label of none, one, two or all of the three.
    alike = soft["offline/random"]["shared"]["value"] * 3 * most["items"]
    assert alike == pytest.approx(round(alike))
    if len(paths) == len(SHARES):
        (table,) = [one for one in printed["kappa_by_group"] if one["by"] == "goal"]
        assert [g["kappa"] for g in table["groups"]] == pytest.approx([*KAPPAS.values()], abs=5e-3)
