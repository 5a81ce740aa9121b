"""A run holds what its dialogues are made of: later changes of files do not reach it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from outputs.export.recorded import EXPORTS as RECORDED
from prompts.environment import SHIPPED as TEMPLATES
from scenarios import variation
from scenarios.variation import load_axes
from tests.hipo.cli.conftest import Hipo, Result, damage

MARKER = "MARKER: this line was never sent to any model."
AXES = "axes:\n  style:\n    heading: Style\n    for: [responder]\n    replace: true\n    values:\n"
RECIPE = """
name: mine
scenarios: [my_car]
n: 4
seed: 3
turns: [2]
strategies: [direct, reflective]
vary: [style]
variation: axes.yaml
tactics: tactics.yaml
prompt_dir: templates
scenario_dirs: [pack]
models: {default: offline/rules}
"""
AS_SENT = ("--format", "messages", "--prompt", "full", "--target", "json")
EXPORTS: dict[str, tuple[str, ...]] = {
    "benchmark": ("--to", "benchmark"),
    "label": ("--to", "sft", "--format", "messages", "--prompt", "full"),
    "actor": ("--to", "sft", "--task", "actor", "--include-deception", *AS_SENT),
    "initiator": ("--to", "sft", "--task", "initiator", *AS_SENT),
    "dpo": ("--to", "dpo", "--include-deception", *AS_SENT),
}


@pytest.fixture
def recipe(pack: Path, tmp_path: Path) -> Path:
    """A recipe whose every material is a file of the user's own."""
    templates = tmp_path / "templates"
    templates.mkdir()
    for name in ("responder_system.j2", "initiator_user.j2", "judge_turn_system.j2"):
        shutil.copy(TEMPLATES / name, templates)
    values = ("short", "long", "plain")
    lines = "".join(f'      - {{id: {v}, text: "A {v} way of speaking."}}\n' for v in values)
    (tmp_path / "axes.yaml").write_text(AXES + lines, encoding="utf-8")
    tactics = "margins:\n  veracity: {Quantity: 2, Quality: 1, None: 1}\n"
    (tmp_path / "tactics.yaml").write_text(tactics, encoding="utf-8")
    path = tmp_path / "mine.yaml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


@pytest.fixture
def made(hipo: Hipo, recipe: Path) -> Hipo:
    """The command line, beside a run of the recipe that was judged."""
    assert hipo("generate", "mine.yaml", "-o", "run", "-q").code == 0
    assert hipo("verify", "run", "--judge", "offline/judge", "-q").code == 0
    return hipo


def change_every_file(pack: Path) -> None:
    """Change templates, the scenario, the axes and the tactics the run was made with."""
    folder = pack.parent
    for template in (folder / "templates").iterdir():
        template.write_text(template.read_text(encoding="utf-8") + MARKER, encoding="utf-8")
    damage(pack, "slid into a guardrail", "slid into a tree")
    for name in ("axes.yaml", "tactics.yaml"):
        text = (folder / name).read_text(encoding="utf-8")
        changed = text.replace("way of speaking", "manner").replace("Quality: 1", "Quality: 9")
        (folder / name).write_text(changed, encoding="utf-8")


def outputs(hipo: Hipo) -> dict[str, bytes]:
    """Return every file that leaves the run, by name; earlier exports are not on its record."""
    (Path("run") / RECORDED).unlink(missing_ok=True)
    for name, options in EXPORTS.items():
        done = hipo(
            "export", "run", *options, "--any", "--splits", "100,0,0", "-o", f"sets/{name}",
            "--overwrite", "-q",
        )  # fmt: skip
        assert done.code == 0, done.err
    (Path("run") / RECORDED).unlink()  # it holds the time of day
    assert hipo("report", "run", "-o", "sets/report.html", "--no-embeddings", "-q").code == 0
    made = {
        path.as_posix(): path.read_bytes() for path in Path("sets").rglob("*") if path.is_file()
    }
    shutil.rmtree("sets")
    return made


def shown(hipo: Hipo) -> list[Result]:
    listed = hipo("show", "run", "--format", "json", "-n", "100").data
    return [hipo("show", "run", row["id"], "--trace", "--prompts") for row in listed]


def test_what_leaves_a_run_is_the_same_after_every_file_it_was_made_from_has_changed(
    made: Hipo, pack: Path
) -> None:
    before, read = outputs(made), shown(made)
    change_every_file(pack)
    assert outputs(made) == before
    assert shown(made) == read
    verified = made("verify", "run", "--judge", "offline/judge")
    assert verified.code == 0
    assert verified.out.startswith("0 calls, nothing to do")
    for gone in ("templates", "pack", "axes.yaml", "tactics.yaml", "mine.yaml"):
        path = Path(gone)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert outputs(made) == before
    assert made("verify", "run", "--judge", "offline/judge").out.startswith("0 calls")


def test_review_shows_the_scenario_as_it_was(made: Hipo, pack: Path) -> None:
    def tasks() -> str:
        done = made("review", "export", "run", "--all", "--to", "label-studio", "-o", "tasks")
        assert done.code == 0, done.err
        return Path("tasks/label-studio.json").read_text(encoding="utf-8")

    before = tasks()
    assert "slid into a guardrail" in before
    change_every_file(pack)
    assert tasks() == before


def test_no_row_holds_a_line_that_no_model_was_sent(made: Hipo, pack: Path) -> None:
    change_every_file(pack)
    rows = b"".join(content for name, content in outputs(made).items() if "jsonl" in name)
    assert MARKER.encode() not in rows
    with closing(sqlite3.connect("run/run.sqlite")) as database, database:
        (sent,) = database.execute(
            "select count(*) from texts where text like '%MARKER%'"
        ).fetchone()
    assert sent == 0


def test_rows_of_actors_are_the_drafts_prompts_of_every_arm(made: Hipo) -> None:
    made(
        "export", "run", *EXPORTS["actor"], "--any", "--splits", "100,0,0", "-o", "set",
        "--no-parquet",
    )  # fmt: skip
    rows = [json.loads(line) for line in Path("set/jsonl/train.jsonl").read_text().splitlines()]
    assert {row["strategy"] for row in rows} == {"direct", "reflective"}
    calls = {(row["case"], row["turn"]): row["messages"][:2] for row in rows}
    assert len(calls) < len(rows), "some utterances of both arms come from one shared call"
    with closing(sqlite3.connect("run/run.sqlite")) as database, database:
        known = dict(database.execute("select seq, text from texts").fetchall())
        sent = {
            json.dumps(["".join(known[n] for n in numbers) for _, numbers in json.loads(layout)])
            for (layout,) in database.execute(
                "select layout from prompts p join requests r on r.prompt = p.seq"
                " where r.purpose = 'responder'"
            )
        }
    assert {json.dumps([m["content"] for m in row["messages"][:2]]) for row in rows} <= sent
    assert all("# Draft" not in row["messages"][1]["content"] for row in rows)


@pytest.mark.parametrize("broken", ["{% if %}", "{{ no_such_variable }}"])
def test_a_broken_template_of_actors_does_not_keep_judges_from_judging(
    made: Hipo, broken: str
) -> None:
    Path("templates/responder_system.j2").write_text(broken)
    again = made("verify", "run", "--judge", "offline/judge", "--no-self")
    assert again.code == 0, again.err


def test_judges_take_the_templates_stored_in_the_run_or_those_given_now(made: Hipo) -> None:
    template = Path("templates/judge_turn_system.j2")
    template.write_text(template.read_text() + MARKER)
    assert made("verify", "run", "--judge", "offline/judge").out.startswith("0 calls")
    anew = made("verify", "run", "--judge", "offline/judge", "--prompt-dir", "templates")
    assert anew.code == 0
    assert not anew.out.startswith("0 calls")
    with closing(sqlite3.connect("run/run.sqlite")) as database, database:
        used = database.execute(
            "select distinct m.content like '%MARKER%' from label_sources s join materials m"
            " on m.kind = 'judge_templates' and m.hash = s.config"
        ).fetchall()
        without = database.execute(
            "select count(*) from label_sources where kind in ('self', 'external') and config"
            " not in (select hash from materials where kind = 'judge_templates')"
        ).fetchone()
    assert sorted(used) == [(0,), (1,)], "each judge run has the templates it was asked with"
    assert without == (0,)


def test_a_library_that_changed_changes_no_unfinished_run(
    hipo: Hipo, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPO_SCENARIO_PATH", str(pack))
    command = ("generate", "--model", "offline/rules", "--scenarios", "*_car", "--turns", "1",
               "--vary", "style", "--tactics", "balanced", "-o", "run")  # fmt: skip
    assert hipo(*command, "-n", "3").code == 0
    damage(pack, "slid into a guardrail", "slid into a tree")
    text = (pack / "my_car.yaml").read_text(encoding="utf-8")
    (pack / "other_car.yaml").write_text(text.replace("id: my_car", "id: other_car"))
    axes = dict(load_axes())
    axes["style"] = axes["style"].model_copy(update={"values": axes["style"].values[:3]})
    monkeypatch.setattr(variation, "_shipped_axes", lambda: axes)
    more = hipo(*command, "-n", "12")
    assert more.code == 0, more.err
    assert more.err.partition(" run: ")[2].startswith(
        "going on with 1 scenario and the axes stored in the run; "
        "not in this run, which was made before: scenario other_car\n"
    )
    assert ids("select scenario, count(distinct scenario_fingerprint) from cases group by 1") == [
        ("my_car", 1), ("used_car", 1),
    ]  # fmt: skip


def test_scenarios_without_a_fact_that_is_named_are_not_new(
    hipo: Hipo, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPO_SCENARIO_PATH", str(pack))
    command = ("generate", "--model", "offline/rules", "--facts", "*_car/guardrail", "--turns", "1",
               "-o", "run", "-n")  # fmt: skip
    assert ", from 2 scenarios (" in hipo(*command, "1", "--dry-run").out
    first, more = hipo(*command, "1"), hipo(*command, "2")
    assert (first.code, more.code) == (0, 0)
    assert "not in this run" not in more.err
    text = (pack / "my_car.yaml").read_text(encoding="utf-8")
    (pack / "other_car.yaml").write_text(text.replace("id: my_car", "id: other_car"))
    told = "not in this run, which was made before: scenario other_car\n"
    assert told in hipo(*command, "3").err


def ids(query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect("run/run.sqlite")) as connection, connection:
        return connection.execute(query).fetchall()


def test_the_unfinished_run_has_the_cases_it_would_have_had(
    hipo: Hipo, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("generate", "--model", "offline/rules", "--scenarios", "*_car", "--turns", "1", "-q")
    monkeypatch.setenv("HIPO_SCENARIO_PATH", str(pack))
    assert hipo(*command, "-n", "3", "-o", "run").code == 0
    assert hipo(*command, "-n", "9", "-o", "whole").code == 0
    damage(pack, "slid into a guardrail", "slid into a tree")
    text = (pack / "my_car.yaml").read_text(encoding="utf-8")
    (pack / "other_car.yaml").write_text(text.replace("id: my_car", "id: other_car"))
    assert hipo(*command, "-n", "9", "-o", "run").code == 0
    cases = "select id from cases order by id"
    with closing(sqlite3.connect("whole/run.sqlite")) as whole, whole:
        assert ids(cases) == whole.execute(cases).fetchall()


def test_a_fact_that_is_new_is_named_and_leaves_the_cycle_as_it_was(
    hipo: Hipo, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("generate", "--model", "offline/rules", "--scenarios", "*_car", "--turns", "1")
    monkeypatch.setenv("HIPO_SCENARIO_PATH", str(pack))
    assert hipo(*command, "-n", "3", "-o", "run", "-q").code == 0
    assert hipo(*command, "-n", "20", "-o", "whole", "-q").code == 0
    path = pack / "my_car.yaml"
    written = yaml.safe_load(path.read_text(encoding="utf-8"))
    written["facts"].insert(0, {**written["facts"][0], "id": "brand_new"})
    path.write_text(yaml.safe_dump(written, sort_keys=False), encoding="utf-8")
    planned = hipo(*command, "-n", "20", "-o", "run", "--dry-run")
    assert "not in this run, which was made before: fact my_car.brand_new\n" in planned.err
    assert hipo(*command, "-n", "20", "-o", "run", "-q").code == 0
    cases = "select id from cases order by id"
    with closing(sqlite3.connect("whole/run.sqlite")) as whole, whole:
        assert ids(cases) == whole.execute(cases).fetchall()


DIFFERENT = {
    "templates": (("--prompt-dir", "templates"), "prompt templates:"),
    "a scenario": (("--scenario-dir", "pack"), "scenario my_car: its content has changed"),
    "tactics": (("--tactics", "tactics.yaml"), "tactics:"),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_file_that_is_given_and_differs_is_refused_with_what_to_do(
    made: Hipo, pack: Path, what: str
) -> None:
    change_every_file(pack)
    given, expected = DIFFERENT[what]
    undone = {"--prompt-dir": "templates", "--scenario-dir": "pack", "--tactics": "tactics.yaml"}
    for gone in {"axes.yaml", *undone.values()} - {given[1]}:
        shutil.rmtree(gone) if Path(gone).is_dir() else Path(gone).unlink()
    before = Path("run/run.sqlite").read_bytes()
    refused = made("generate", "mine.yaml", "-o", "run", *given)
    assert refused.code == 2
    assert expected in refused.err
    for other, message in DIFFERENT.values():
        assert other == given or message not in refused.err
    for advice in ("leave the option out", "-o", "--resume always"):
        assert advice in refused.err
    assert Path("run/run.sqlite").read_bytes() == before


def test_files_that_are_gone_are_taken_from_the_run(made: Hipo) -> None:
    for gone in ("templates", "pack", "axes.yaml", "tactics.yaml"):
        shutil.rmtree(gone) if Path(gone).is_dir() else Path(gone).unlink()
    more = made("generate", "mine.yaml", "-n", "6", "-o", "run")
    assert more.code == 0, more.err
    assert more.err.partition(" run: ")[2].startswith(
        "going on with 1 scenario, the axes, the templates and the tactics stored in the run"
    )
    assert ids("select count(*) from cases") == [(6,)]
    assert ids("select count(*) from prompts where layout is null") == [(0,)]


def test_always_takes_what_is_installed_as_a_new_epoch_beside_the_old_one(
    made: Hipo, pack: Path
) -> None:
    before = ids("select id from dialogues d join cases c on c.seq = d.case_seq order by 1")
    change_every_file(pack)
    assert made("generate", "mine.yaml", "-o", "run", "--resume", "always", "-q").code == 0
    assert ids("select count(*) from config_epochs") == [(2,)]
    fingerprints = ids("select distinct hash from materials where kind = 'scenario' order by 1")
    assert fingerprints == ids("select distinct scenario_fingerprint from cases order by 1")
    assert len(fingerprints) == 2
    assert "going on" not in made("generate", "mine.yaml", "-o", "run").err
    assert made("verify", "run", "--judge", "offline/judge").code == 0
    now = outputs(made)
    lines = b"".join(v for name, v in now.items() if name.startswith("sets/actor/jsonl"))
    rows = [json.loads(line) for line in lines.splitlines()]
    old = {case for (case,) in before}
    assert {MARKER in row["messages"][0]["content"] for row in rows if row["case"] in old} == {
        False
    }
    assert {MARKER in row["messages"][0]["content"] for row in rows if row["case"] not in old} == {
        True
    }


def test_another_dialogue_version_is_for_reading_only(
    made: Hipo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hipo.app.runs.resumption.DIALOGUE_VERSION", 99)
    monkeypatch.setattr("pipeline.run_identity.DIALOGUE_VERSION", 99)
    refused = made("generate", "mine.yaml", "-n", "8", "-o", "run")
    assert refused.code == 2
    assert "version 2 of them; this one makes 99" in refused.err
    assert outputs(made)
    assert made("generate", "mine.yaml", "-n", "8", "-o", "run", "--resume", "always").code == 0
