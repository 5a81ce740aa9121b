"""What is drawn once for everybody in a dialogue is known to whoever reads it, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from tests.hipo.cli.conftest import Hipo

POWER = "Power: the INITIATOR decides on the RESPONDER's contract"
MOOD = "Mood: has had a long day"
RECIPE = """
models: {default: offline/rules}
scenarios: [used_car]
n: 2
turns: [1]
vary: [power, mood]
variation: axes.yaml
"""
AXES = """
axes:
  power:
    shared: true
    for: [initiator, responder]
    values:
      - {id: asker_above, text: the INITIATOR decides on the RESPONDER's contract}
  mood:
    values:
      - {id: tired, text: has had a long day}
"""
ALONE = AXES.replace("for: [initiator, responder]", "for: [initiator]")


def asked(folder: Path) -> dict[str, str]:
    """Return the newest prompt of each purpose."""
    with RunStore.open(folder, readonly=True) as store:
        return {
            record.requests[0].purpose: "\n".join(text for _, text in record.messages)
            for dialogue in store.dialogues(traces=False)
            for record in store.calls.of_case(dialogue.case.id)
        }


@pytest.mark.parametrize(("axes", "known"), [(AXES, True), (ALONE, False)])
def test_judges_reviewers_and_sets_know_what_both_people_were_told(
    hipo: Hipo, tmp_path: Path, axes: str, known: bool
) -> None:
    (tmp_path / "axes.yaml").write_text(axes, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(RECIPE, encoding="utf-8")
    assert hipo("generate", "mine.yaml", "-o", "run", "-q").code == 0
    assert hipo("verify", "run", "--judge", "offline/judge", "-q").code == 0
    prompts = asked(tmp_path / "run")
    judges = {name: text for name, text in prompts.items() if name.startswith(("self", "external"))}
    assert len(judges) == 4
    assert all((POWER in text) == known and MOOD not in text for text in judges.values())
    actor = next(text for name, text in prompts.items() if name not in judges)
    assert actor.count(POWER) == int(known), "the people themselves are told once"

    for kind in ("dialogues", "benchmark"):
        assert hipo("export", "run", "--to", kind, "--any", "-o", kind, "-q").code == 0
        rows = [
            json.loads(line)
            for file in (tmp_path / kind / "jsonl").glob("*.jsonl")
            for line in file.read_text(encoding="utf-8").splitlines()
        ]
        assert rows
        assert all((POWER in row["situation"]) == known for row in rows)
    out = ("--to", "label-studio", "--all", "-o", "tasks.json")
    assert hipo("review", "export", "run", *out).code == 0
    tasks = (tmp_path / "tasks.json").read_text(encoding="utf-8")
    assert (POWER in tasks) == known


def test_dialogues_drawn_from_earlier_values_are_read_with_what_they_were_told(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "axes.yaml").write_text(AXES, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(RECIPE, encoding="utf-8")
    assert hipo("generate", "mine.yaml", "-o", "run", "-q").code == 0
    later = AXES.replace(
        "id: asker_above, text: the INITIATOR", "id: asked_above, text: the RESPONDER"
    )
    (tmp_path / "axes.yaml").write_text(later, encoding="utf-8")
    more = ("-n", "4", "--resume", "always", "--vary", "power")
    assert hipo("generate", "mine.yaml", "-o", "run", "-q", *more).code == 0
    done = hipo("export", "run", "--to", "benchmark", "--any", "-o", "set", "-q")
    assert done.code == 0, done.err
    rows = (tmp_path / "set" / "jsonl" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    told = {json.loads(row)["situation"].splitlines()[-1] for row in rows}
    assert told == {POWER, POWER.replace("INITIATOR", "RESPONDER", 1)}
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        material = load_material(store)
        axes = [tuple(material.axes_of(d.case)) for d in store.dialogues(traces=False)]
    assert set(axes) == {("power", "mood"), ("power",)}
