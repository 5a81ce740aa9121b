"""``hipo evaluate`` on a dimension of which several labels may be right at once."""

from __future__ import annotations

import json
from pathlib import Path

from tests.hipo.cli.conftest import Hipo

TRIAL = Path(__file__).resolve().parents[3] / "examples" / "formats" / "trial.csv"


def test_several_labels_at_once_have_figures_of_their_own(hipo: Hipo) -> None:
    two = ""","['emotion', 'logic']"\n"""
    table = TRIAL.read_text().replace("Witness,logic\nLin,Then", f"Witness{two}Lin,Then")
    table = table.replace("Questioner,logic\n", f"Questioner{two}")
    table = table.replace("Questioner,credibility", "Questioner,none")
    Path("trial.csv").write_text(table)
    assert hipo("import", "trial.csv", "--map", "cobra", "-o", "hearing").code == 0
    assert hipo("export", "hearing", "--any", "--to", "benchmark", "-o", "set").code == 0
    asked = ("--task", "cobra-juror", "--model", "offline/judge")
    told = hipo("evaluate", "set", *asked, "-o", "of-set")
    assert told.code == 0, told.err
    assert "micro-F1" in told.out
    lines = Path("of-set/results.jsonl").read_text().splitlines()
    right = [json.loads(line)["references"]["people"].get("reasons") for line in lines]
    assert right == ["logic", "logic | emotion", "none of them"]
    scores = json.loads(Path("of-set/scores.json").read_text())
    assert "reasons" not in {one["dimension"] for one in scores["scores"]}
    (of_sets,) = scores["sets"]
    assert (of_sets["dimension"], of_sets["items"]) == ("reasons", 3)
    assert "several labels at once, against people labels" in Path("of-set/index.html").read_text()
    table = hipo("evaluate", "table", "of-set", "--no-paper", "--by-label").out
    assert "reasons F1 | reasons micro-F1 | reasons macro-F1 | reasons all right" in table
    shown = of_sets["f1"]["value"]
    assert f"| people | {100 * shown:.1f}" in table
    assert "always all labels (floor) | people" in table
    assert "reasons by label" in table
    assert hipo("evaluate", "hearing", "--any", *asked, "-q", "-o", "of-run").code == 0
    assert json.loads(Path("of-run/scores.json").read_text())["sets"] == scores["sets"]
    drawn = ("-n", "2", "--balance", "reasons", "-o", "drawn")
    assert "has one label of it" in hipo("evaluate", "set", *asked, *drawn).err
