"""Files of wanted tactics: margins, tables of combinations, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.recipes.source import tactics_file
from pipeline.tactics.tactics import TacticDesign
from scenarios.errors import InputError, UsageError
from scenarios.yaml_source import read_yaml
from tests.pipeline.test_tactics import HIPO, PLAN, drawn


def written(folder: Path, text: str) -> Path:
    path = folder / "tactics.yaml"
    path.write_text(text)
    return path


def test_a_file_sets_shares_with_labels_spelt_freely(tmp_path):
    path = written(
        tmp_path,
        "margins:\n  veracity: {omission: 3, QUALITY: 1, None: 1}\n  illocutionary:\n"
        "    Representatives: 0.5\n    promise: 0.5\n",
    )
    design = TacticDesign.from_file(read_yaml(path), HIPO, PLAN.contexts())
    assert design.dimensions == ("veracity", "illocutionary")
    assert {m.labels[0]: m.target for m in design.margins if m.target} == {
        "Quantity": 0.6,
        "Quality": 0.2,
        "None": 0.2,
        "Representatives": 0.5,
        "Commissives": 0.5,
    }
    assert design.unmet == ()


def test_a_file_may_hold_a_table_of_combinations(tmp_path):
    path = written(
        tmp_path,
        "combinations:\n"
        "  - labels: {veracity: Manner, illocutionary: Directives}\n"
        "    weight: 3\n"
        "  - labels: {illocutionary: Expressives, veracity: None}\n",
    )
    design = TacticDesign.from_file(read_yaml(path), HIPO, PLAN.contexts())
    tactics = {
        tuple(sorted(wanted.items())) for _, _, turns in drawn(design, PLAN) for wanted in turns
    }
    assert tactics == {
        (("illocutionary", "Directives"), ("veracity", "Manner")),
        (("illocutionary", "Expressives"), ("veracity", "None")),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("margins:\n  veracity:\n    Quantitty: 1\n", r"tactics.yaml:3: .*'Quantitty'.*Quantity"),
        ("margins:\n  verity: {None: 1}\n", r"tactics.yaml:2: .*verity.*veracity"),
        (
            "margins:\n  goal: {deception: 1}\n",
            r"tactics.yaml:2: .*goal.*can be drawn.*; asked for are",
        ),
        ("margins:\n  veracity: {None: -1}\n", r"tactics.yaml:2: margins.veracity.None"),
        ("{}\n", "margins or combinations"),
        (
            "combinations:\n  - labels: {veracity: None}\n  - labels: {intention: Inform}\n",
            "the dimensions of the first row: veracity",
        ),
        (
            "margins:\n  veracity: {None: 1}\ncombinations:\n  - labels: {veracity: None}\n",
            "a dimension of combinations or of margins",
        ),
    ],
)
def test_a_faulty_file_is_refused_where_it_is_wrong(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        TacticDesign.from_file(read_yaml(written(tmp_path, text)), HIPO, PLAN.contexts())


def test_weights_that_are_all_nothing_are_refused(tmp_path):
    path = written(tmp_path, "margins:\n  veracity: {None: 0}\n")
    with pytest.raises(UsageError, match="veracity has no positive weight"):
        TacticDesign.from_file(read_yaml(path), HIPO, PLAN.contexts())


@pytest.mark.parametrize(
    ("path", "shown", "hint"),
    [
        ("balancd", "balancd", "did you mean 'balanced'?"),
        ("sub/nosuch", "sub/nosuch", "check the path of the file"),
        ("{here}/sub/balancd", "sub/balancd", "did you mean 'balanced'?"),
    ],
)
def test_a_file_that_is_not_there_is_told_with_its_folder(path, shown, hint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as refused:
        tactics_file(Path(path.format(here=tmp_path)))
    assert f"tactics: found {shown!r}, expected free, balanced or a file" in refused.value.message
    assert refused.value.hint == hint
