"""Training rows of all that people said: one for each person and utterance."""

import json
from collections import Counter
from pathlib import Path

import pytest

from hipo.cli.main import run as hipo
from tests.outputs.corpora import rows_in

ANNOTATORS = ("Ada", "Bea", "Cem")
HEADER = ["id", "sd_situation", "sd_speaker_role", "sd_listener_role", "sd_utterance", "gold_standard"]  # fmt: skip
SAID = (
    ("1", "The lift is stuck.", "guest", "porter", "Lovely.", "anger"),
    ("2", "The train left.", "clerk", "guest", "There is another.", "trust"),
)
EMOTIONS = (("anger", "anger", "joy"), ("trust", "trust", "trust"))
MISSING = ("2", "Cem")
"""Who did not rate how aroused the speaker is."""


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    columns = ["sl_plutchik_primary", "sl_v", "sl_a", "sl_d"]
    lines = [",".join(HEADER + [f"{c}_{who}" for c in columns for who in ANNOTATORS])]
    for scene, emotions in zip(SAID, EMOTIONS, strict=True):
        aroused = ["" if (scene[0], who) == MISSING else "neutral" for who in ANNOTATORS]
        rated = ["unpleasant", "neutral", "pleasant", *aroused, "controlled", "neutral", "neutral"]
        lines.append(",".join([*scene, *emotions, *rated]))
    Path("data_sarcasm.csv").write_text("\n".join(lines) + "\n")
    assert hipo(["import", "data_sarcasm.csv", "--map", "cei", "-o", "read"]) == 0
    return tmp_path / "read"


def exported(run: Path, *options: str) -> list[dict]:
    command = ["export", str(run), "--any", "--to", "sft", "--splits", "100,0,0", "-o", "set"]
    assert hipo([*command, "--aspect", "utterance", *options]) == 0
    return rows_in(Path("set"))


def test_each_person_is_a_row_with_their_own_labels(read, capsys):
    rows = exported(read, "--task", "people")
    of_first = [row for row in rows if row["label_emotion"] != "trust"]
    assert Counter(row["label_emotion"] for row in of_first) == {"anger": 2, "joy": 1}
    assert [row["annotator"] for row in of_first] == [0, 1, 2]
    assert {row["annotators"] for row in of_first} == {3}
    assert len({row["id"] for row in rows}) == len(rows) == 5
    assert {row["labelled_by"] for row in rows} == {"people"}
    for row in rows:
        answer = json.loads(row["completion"][-1]["content"])
        assert answer["emotion"] == row["label_emotion"]
        assert answer["valence"] == row["label_valence"]
    prompts = {json.dumps(row["prompt"]) for row in of_first}
    assert len(prompts) == 1
    # Names of annotators are nobody's business.
    assert not any(name in json.dumps(rows) for name in ANNOTATORS)
    assert "left out: 1 row of somebody who did not give all labels" in capsys.readouterr().out


def test_nothing_is_told_of_settled_labels_where_each_person_has_a_row(read, capsys):
    exported(read, "--task", "people")
    card = Path("set/README.md").read_text()
    told = capsys.readouterr().out + card
    assert "on which people are split" not in told
    assert "they are what most people gave" not in told
    assert "| anger | 2 | 40.0% |" in card, "labels are counted as rows have them"


def test_settled_labels_leave_out_what_people_are_split_on(read, capsys):
    command = ["export", str(read), "--any", "--to", "sft", "--splits", "100,0,0", "-o", "none"]
    assert hipo(command) != 0, "three valences are no majority"


def test_a_run_that_nobody_has_labelled_says_who_would(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make = ["generate", "--model", "offline/rules", "-n", "4", "--turns", "1", "-o", "made", "-q"]
    assert hipo(make) == 0
    command = ["export", "made", "--any", "--to", "sft", "--task", "people", "-o", "set"]
    assert hipo(command) == 2
    assert "people label dialogues on the page of hipo review serve RUN" in capsys.readouterr().err


def test_the_conversation_and_reasons_are_not_to_be_had(read, capsys):
    command = ["export", str(read), "--any", "--to", "sft", "--task", "people", "-o", "set"]
    assert hipo([*command, "--rationale"]) == 2
    assert "--rationale is for --to sft --task label" in capsys.readouterr().err
