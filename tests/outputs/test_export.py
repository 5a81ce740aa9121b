"""An export as a whole: loadable, the same bytes twice, all of it or nothing, divided alike."""

from __future__ import annotations

import hashlib
import os
import signal
from collections import Counter, defaultdict

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hipo.cli.main import run as hipo_command
from scenarios.errors import UsageError
from tests.factories import make_run
from tests.forked import forked
from tests.outputs.corpora import (
    STRATEGIES,
    TELLER,
    exportable_run,
    exported,
    rows_in,
    some_scenarios,
)
from tests.outputs.killed import killed_at
from tests.outputs.test_reworded_lines import replaced

KILLS = 5


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return exportable_run(
        tmp_path_factory.mktemp("runs") / "run", scenarios=12, facts=2, strategies=STRATEGIES
    )


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def command(capsys, *arguments):
    capsys.readouterr()
    code = hipo_command(["export", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("sft", {}),
        ("sft", {"task": "actor", "format": "alpaca"}),
        ("sft", {"task": "initiator", "format": "sharegpt"}),
        ("dpo", {"include_deception": True, "format": "axolotl"}),
        ("benchmark", {}),
    ],
)
def test_datasets_loads_the_folder(tmp_path, run, kind, options, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    datasets.disable_progress_bars()
    done = exported(tmp_path / "out", run, kind, **options)
    loaded = datasets.load_dataset(str(done.folder))
    assert {split: len(loaded[split]) for split in loaded} == done.rows
    for split in loaded:
        assert list(loaded[split]) == rows_in(done.folder, split)


def test_twice_the_same_export_gives_the_same_bytes(tmp_path, run, capsys):
    folders = []
    for number in (1, 2):
        folders.append(tmp_path / str(number) / "out")
        code, out, err = command(
            capsys, run, "--to", "sft", "--balance", "veracity", "-o", folders[-1],
            "--compare-splits", "--no-embeddings",
        )  # fmt: skip
        assert code == 0, err
        assert "overlap of train with test: " in out
    one, other = map(tree, folders)
    assert one == other
    assert {"README.md", "datasheet.md", "croissant.json", "manifest.json"} <= set(one)


def test_the_manifest_lists_every_file_with_its_hash_and_no_place_or_time(tmp_path, run, capsys):
    code, _, err = command(capsys, run, "--to", "dpo", "-o", tmp_path / "out")
    assert code == 0, err
    files = tree(tmp_path / "out")
    text = files.pop("manifest.json")
    manifest = orjson.loads(text)
    assert {entry["path"]: entry["sha256"] for entry in manifest["files"]} == {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items()
    }
    for entry in manifest["files"]:
        if entry["path"].endswith(".jsonl"):
            assert entry["rows"] == len(files[entry["path"]].splitlines())
    assert manifest["options"]["kind"] == "dpo"
    assert manifest["runs"] == ["run"]
    assert str(tmp_path).encode() not in b"".join([text, *files.values()])


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    kind=st.sampled_from(["sft", "dpo", "benchmark"]),
    by=st.sampled_from(["scenario", "fact"]),
    shares=st.sampled_from([(0.8, 0.1, 0.1), (0.4, 0.3, 0.3), (0.5, 0, 0.5)]),
    seed=st.integers(0, 1000),
    balance=st.sampled_from([None, "goal", "veracity"]),
)
def test_no_scenario_or_fact_is_in_two_splits(tmp_path, run, kind, by, shares, seed, balance):
    done = exported(
        tmp_path / "out", run, kind, split_by=by, fractions=shares, seed=seed, balance=balance,
        parquet=False, include_deception=kind == "dpo", overwrite=True,
    )  # fmt: skip
    places = defaultdict(set)
    counts = defaultdict(Counter)
    for split in done.rows:
        for row in rows_in(done.folder, split):
            places[(row["scenario"],) if by == "scenario" else (row["scenario"], row["fact"])].add(
                split
            )
            label = row["goal"] if balance == "goal" else row["label_veracity"]
            if label is not None:
                counts[split, row.get("aspect", row.get("origin"))][label] += 1
    assert all(len(splits) == 1 for splits in places.values())
    if balance:
        for cell in counts.values():
            assert max(cell.values()) - min(cell.values()) <= 1


def test_every_export_of_a_run_divides_its_scenarios_alike(tmp_path, run):
    plans = []
    for kind, options in (
        ("sft", {}),
        ("sft", {"task": "actor"}),
        ("dpo", {"verdict": "any"}),
        ("benchmark", {"aspects": ("utterance",)}),
    ):
        done = exported(tmp_path / f"{len(plans)}", run, kind, parquet=False, **options)
        manifest = orjson.loads((done.folder / "manifest.json").read_bytes())
        plans.append(manifest["splits"])
        split_of = {row["scenario"]: s for s in done.rows for row in rows_in(done.folder, s)}
        assert split_of.items() <= plans[0].items()
    assert all(plan == plans[0] for plan in plans)


def test_rows_that_overlap_with_another_set_are_left_out_on_request(tmp_path, run, capsys):
    code, _, err = command(
        capsys, run, "--to", "benchmark", "--splits", "0,0,100", "--aspect", "conversation",
        "-o", tmp_path / "held", "--scenarios", rows_of_interest(), "--no-parquet",
    )  # fmt: skip
    assert code == 0, err
    everything = ("--to", "sft", "--no-parquet", "--splits", "100,0,0")
    code, out, err = command(
        capsys, run, *everything, "--against", tmp_path / "held", "--remove-overlap",
        "--no-embeddings", "-o", tmp_path / "clean", "--print", "json",
    )  # fmt: skip
    assert code == 0, err
    told = orjson.loads(out)
    assert told["left_out"]["rows"]["overlap"] > 0
    (overlap,) = told["overlaps"]
    assert (overlap["checked"], overlap["reference"]) == ("clean", "held")
    assert overlap["removed"]
    assert overlap["checked_rows_to_remove"] > 0
    code, _, err = command(capsys, run, *everything, "-o", tmp_path / "all")
    assert code == 0, err
    left, before = rows_in(tmp_path / "clean"), rows_in(tmp_path / "all")
    assert 0 < len(left) < len(before)
    held = rows_in(tmp_path / "held")
    assert not {row["case"] for row in held} & {
        row["case"] for row in left if row["aspect"] == "conversation"
    }
    assert (tmp_path / "clean" / "contamination.json").is_file()
    code, out, err = command(
        capsys, run, *everything, "--against", tmp_path / "all", "--remove-overlap",
        "--no-embeddings", "-o", tmp_path / "none",
    )  # fmt: skip
    assert (code, out) == (2, "")
    assert f"{len(before)} rows overlap with another set" in err
    assert not (tmp_path / "none").exists()


def test_rows_with_reworded_lines_of_another_set_are_left_out_where_that_is_asked(
    tmp_path, run, capsys
):
    everything = ("--to", "sft", "--task", "actor", "--no-parquet", "--splits", "100,0,0")
    assert command(capsys, run, *everything, "-o", tmp_path / "all")[0] == 0
    before = {row["id"]: row["completion"][0]["content"] for row in rows_in(tmp_path / "all")}
    told = next(text for text in before.values() if text.startswith(TELLER))
    secret = tmp_path / "secret.jsonl"
    secret.write_bytes(orjson.dumps({"text": replaced(told, every=5)}))
    against = ("--no-embeddings", "--against", secret, "--remove-overlap")
    code, out, err = command(capsys, run, *everything, *against, "-o", tmp_path / "kept")
    assert code == 0, err
    assert {row["id"] for row in rows_in(tmp_path / "kept")} == set(before)
    assert "left out with them" not in out
    code, out, err = command(
        capsys, run, *everything, *against, "--remove-reworded", "-o", tmp_path / "clean"
    )
    assert code == 0, err
    left = {row["id"] for row in rows_in(tmp_path / "clean")}
    gone = {before[one] for one in before.keys() - left}
    assert gone == {told}
    assert len(before) - len(left) == list(before.values()).count(told)
    assert "left out with them" in " ".join(out.split())
    card = (tmp_path / "clean" / "README.md").read_text()
    assert ", left out |" in card
    assert ", left out |" not in (tmp_path / "kept" / "README.md").read_text()


def rows_of_interest():
    """Return the id of one scenario of the run."""
    return some_scenarios(1)[0].id


def test_facts_tell_what_the_rows_were_made_of(tmp_path, run):
    done = exported(tmp_path / "out", run, "sft", balance="veracity", aspects=("utterance",))
    rows = rows_in(done.folder)
    facts = done.facts
    assert facts.dialogues == len({(row["case"], row["arm"]) for row in rows})
    assert sum(facts.by_goal.values()) == facts.dialogues
    assert facts.by_label["veracity"] == {
        label: n
        for label in ("Quantity", "Quality", "Relevance", "Manner", "None")
        for n in [sum(row["label_veracity"] == label for row in rows)]
    }
    assert [(g.model, g.dialogues) for g in facts.generators] == [("compatible/m", facts.dialogues)]
    assert set(facts.generators[0].strategies) == {row["strategy"] for row in rows}
    assert not facts.offline_baseline


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "benchmark", "--format", "alpaca"), "--format is for --to sft and --to dpo"),
        (("--to", "dpo", "--task", "actor"), "--task actor is for --to sft"),
        (("--to", "sft", "--task", "actr"), "did you mean 'actor'?"),
        (("--to", "dop"), "did you mean 'dpo'?"),
        (("--to", "sft", "--task", "actor", "--rationale"), "is for --to sft --task label"),
        (
            ("--to", "dpo", "--aspect", "utterance"),
            "is for --to sft --task label and --to sft --task people and --to benchmark",
        ),
        (("--to", "sft", "--include-deception"), "--include-deception is for"),
        (("--to", "sft", "--remove-overlap"), "needs a set to compare with"),
        (("--to", "sft", "--remove-reworded"), "goes with --remove-overlap"),
        (("--to", "sft", "--splits", "80,20"), "three numbers"),
        (("--to", "sft", "--splits", "many"), "is no list of numbers"),
        (("--to", "sft", "--format", "mesages"), "did you mean 'messages'?"),
        (("--to", "sft", "--aspect", "utterence"), "unknown aspect"),
        (("--to", "sft", "--balance", "mood"), "has no dimension 'mood'"),
        (("--to", "intention-mcq"), "hipo@2 has no intentions to ask about"),
        (("--to", "sft", "--goals", "mischief"), "has no goal"),
        (("--to", "sft", "--push-to-hub", "me/data"), "without a licence"),
    ],
)
def test_options_that_do_not_fit_are_refused_and_nothing_is_made(
    tmp_path, run, capsys, arguments, message
):
    code, out, err = command(capsys, run, *arguments, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_one_scenario_cannot_be_divided_and_the_way_out_is_told(tmp_path):
    run = exportable_run(tmp_path / "run", scenarios=1, facts=3)
    with pytest.raises(UsageError, match="1 scenario cannot be divided into 3 splits") as caught:
        exported(tmp_path / "out", run, "sft")
    assert "--split-by fact" in caught.value.hint
    assert exported(tmp_path / "out", run, "sft", split_by="fact").rows


@pytest.mark.parametrize("kind", ["dialogues", "sft"])
def test_a_run_without_dialogues_is_told_as_such(tmp_path, kind):
    run = make_run(tmp_path / "run", [])
    with pytest.raises(UsageError, match="nothing is left to export; the runs hold no dialogue"):
        exported(tmp_path / "out", run, kind, verdict="any")


def test_where_nothing_is_left_the_reason_is_told(tmp_path):
    run = exportable_run(tmp_path / "run", scenarios=4, strategies=("direct",))
    with pytest.raises(UsageError, match="nothing is left to export") as caught:
        exported(tmp_path / "out", run, "dpo")
    assert "pairs need two answers to one prompt" in caught.value.hint
    assert str(caught.value).startswith(
        "nothing is left to export; "
        "8 dialogues that are deceptive: nobody is taught from those without leave; "
        "8 dialogues with one answer alone to each prompt\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_what_rules_wrote_is_called_that(tmp_path, capsys):
    run = exportable_run(tmp_path / "run", scenarios=4, model="offline/rules")
    code, out, _ = command(capsys, run, "--to", "sft", "-o", tmp_path / "out")
    assert code == 0
    assert "no training data" in out
    assert {row["model"] for row in rows_in(tmp_path / "out")} == {"offline/rules"}


def test_a_kill_leaves_the_old_folder_or_none_and_never_a_half(tmp_path, run):
    target = tmp_path / "out"
    arguments = ["export", str(run), "--to", "sft", "-o", str(target), "--overwrite", "-q"]

    def export(last=0):
        return forked(killed_at, [str(last), *arguments], tmp_path, os.environ)

    first = export()
    assert first.returncode == 0, first.stderr
    whole = tree(target)
    steps = int(export().stdout)
    halves = 0
    for kill in range(KILLS):
        step = 1 + kill * (steps - 1) // (KILLS - 1)
        assert export(step).returncode == -signal.SIGKILL
        halves += any(tmp_path.glob(".out.partial-*"))
        assert not target.exists() or tree(target) == whole
    assert halves, "some were killed while they wrote"
    assert export().returncode == 0
    assert tree(target) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
