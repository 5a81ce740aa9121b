"""What is drawn once for everybody in a dialogue is known to whoever reads it, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hipo.app.verification import verify
from pipeline.run_material import RunMaterial, load_material
from pipeline.store.run_store import RunStore
from quality.viewer.viewed_run import ViewedRun
from tests.hipo.cli.conftest import Hipo
from tests.pipeline.integration.records import rows

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
    lines = (tmp_path / "set" / "jsonl" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    told = {json.loads(row)["situation"].splitlines()[-1] for row in lines}
    assert told == {POWER, POWER.replace("INITIATOR", "RESPONDER", 1)}
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        material = load_material(store)
        axes = [tuple(material.axes_of(d)) for d in store.dialogues(traces=False)]
    assert set(axes) == {("power", "mood"), ("power",)}


def test_a_value_whose_text_was_changed_is_told_as_it_was_when_a_dialogue_was_played(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "axes.yaml").write_text(AXES, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(RECIPE, encoding="utf-8")
    assert hipo("generate", "mine.yaml", "-o", "run", "-q").code == 0
    later = AXES.replace("decides on", "pays for").replace("a long day", "no sleep")
    for text, n in ((later, "4"), (AXES, "6")):  # the last go back to what was said at first
        (tmp_path / "axes.yaml").write_text(text, encoding="utf-8")
        done = hipo("generate", "mine.yaml", "-o", "run", "-q", "-n", n, "--resume", "always")
        assert done.code == 0, done.err
    assert hipo("verify", "run", "--judge", "offline/judge", "-q").code == 0

    told: list[tuple[bool, bool]] = []
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        for dialogue in store.dialogues(traces=False):
            prompts = {True: "", False: ""}
            for record in store.calls.of_case(dialogue.case.id):
                is_judge = record.requests[0].purpose.startswith(("self", "external"))
                prompts[is_judge] += "".join(text for _, text in record.messages)
            for text in prompts.values():
                assert (POWER in text) != (POWER.replace("decides on", "pays for") in text)
            told.append((POWER in prompts[False], POWER in prompts[True]))
    assert sorted(told) == [(False, False)] * 2 + [(True, True)] * 4

    assert sum("pays for" in situation for situation in _situations(hipo, tmp_path)) == 2


def test_a_viewer_that_is_left_open_tells_what_was_told_when_a_dialogue_was_played(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").write_text(RECIPE, encoding="utf-8")
    (tmp_path / "axes.yaml").write_text(AXES, encoding="utf-8")
    assert hipo("generate", "mine.yaml", "-o", "run", "-q").code == 0
    with ViewedRun(tmp_path / "run") as viewed:
        for n, verb in ((4, "pays for"), (6, "reports to"), (8, "decides on")):
            (tmp_path / "axes.yaml").write_text(AXES.replace("decides on", verb), encoding="utf-8")
            more = ("-n", str(n), "--resume", "always")
            assert hipo("generate", "mine.yaml", "-o", "run", "-q", *more).code == 0
            with RunStore.open(tmp_path / "run", readonly=True) as store:
                material, played = load_material(store), list(store.dialogues(traces=False))
            newest = [one for one in played if one.config_epoch == max(material.by_epoch)]
            assert all(verb in material.scenario_as_told(one).background for one in newest)
            for one in reversed(played):
                scenario = viewed.scenario_of(one)
                assert scenario is not None
                assert scenario.background == material.scenario_as_told(one).background


def _situations(hipo: Hipo, folder: Path) -> list[str]:
    """Return the situation of every dialogue in the corpus that is exported."""
    assert hipo("export", "run", "-o", "corpus", "-q").code == 0
    file = folder / "corpus" / "jsonl" / "train.jsonl"
    return [json.loads(row)["situation"] for row in file.read_text("utf-8").splitlines()]


OF_JUDGES = "role like 'self %' or role like 'external %'"


def test_what_was_judged_before_a_shared_axis_was_told_is_judged_again_and_nothing_twice(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "axes.yaml").write_text(AXES, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(RECIPE, encoding="utf-8")
    judging = ("verify", "run", "--judge", "offline/judge")
    with monkeypatch.context() as earlier:  # judges were told the scenario alone
        earlier.setattr(RunMaterial, "scenario_as_told", lambda its, d: its.scenario_of(d.case))
        earlier.setattr(verify, "told_axes", lambda axes, scenarios: {})
        assert hipo("generate", "mine.yaml", "-o", "run", "-q").code == 0
        assert hipo(*judging, "-q").code == 0
    run = tmp_path / "run"
    (before,) = rows(run, f"select count(*), sum(charged_tokens) from requests where {OF_JUDGES}")
    assert hipo("generate", "mine.yaml", "-n", "6", "-o", "run", "-q").code == 0

    plan = hipo(*judging, "--dry-run", "--format", "json").data
    assert (plan["dialogues"], plan["anew"], plan["calls"]) == (6, 2, 3 * before[0])
    again = "2 dialogues were judged in another way before"
    assert again in hipo(*judging, "--dry-run").out
    spent = hipo("runs", "show", "run", "--format", "json").data["charged"]["tokens"]
    halfway = hipo(*judging, "--budget-tokens", str(spent + before[1] // 2 + 9_000))
    assert halfway.code == 4
    assert again in halfway.err
    (some,) = rows(run, f"select count(*) from requests where {OF_JUDGES}")
    assert before[0] < some[0] < 4 * before[0]
    done = hipo(*judging)
    assert done.code == 0
    (all_of_them,) = rows(run, f"select count(*) from requests where {OF_JUDGES}")
    assert all_of_them[0] == 4 * before[0], "each question of today once, those of before kept"
    passes = "select judge, count(*), count(distinct config) from newest_judge_runs group by kind"
    assert rows(run, passes) == [("offline/judge", 6, 1)] * 2
    last = hipo(*judging)
    assert "nothing to do: 6 dialogues verified already" in last.out
    assert "another way" not in last.err + hipo(*judging, "--dry-run").out
