"""An audit gates an export, and stands in report and card."""

from __future__ import annotations

import re

import orjson
import pytest

from hipo.app.audit import audit
from hipo.cli.main import run as hipo_command
from outputs.audit.findings import read_audit
from outputs.dataset.told_audit import AUDIT

GENERATE = (
    "generate hipo-paper --model offline/rules --strategy direct --tactics balanced"
    " --scenarios used_car,quit_smoking,texting_ex,luxury_launch -n 80 -q"
)


def hipo(command: str) -> int:
    return hipo_command(command.split())


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same cases with shared openings, and with openings by goal."""
    folder = tmp_path_factory.mktemp("gated")
    for openings in ("shared", "by-goal"):
        assert hipo(f"{GENERATE} --openings {openings} -o {folder / openings}") == 0
    return folder


def export(run, target, *more: str) -> int:
    kind = "--to benchmark --any --splits 100,0,0 --no-parquet -q"
    return hipo(f"export {run} -o {target} {kind} {' '.join(more)}")


def test_a_set_with_a_shortcut_is_refused_and_nothing_is_left(runs, tmp_path, capsys):
    assert export(runs / "by-goal", tmp_path / "set", "--max-shortcut", "0.1") == 2
    told = capsys.readouterr().err
    assert re.search(
        r"opening again reads goal at (1\.0|0\.9)\d+, at least \S+ \(floor 0\.500\)", told
    )
    assert "--max-shortcut allows 0.1 above the floor" in told
    assert list(tmp_path.iterdir()) == []


def test_a_set_within_the_gate_is_written_with_its_audit(runs, tmp_path):
    assert export(runs / "shared", tmp_path / "set", "--max-shortcut", "0.4") == 0
    found = read_audit(tmp_path / "set" / AUDIT)
    assert found.dialogues == 80
    assert {"variation", "overlap"} <= {f.probe for f in found.findings} | {
        s.probe for s in found.skipped if s.why == "the same throughout"
    }
    manifest = orjson.loads((tmp_path / "set" / "manifest.json").read_bytes())
    assert AUDIT in [file["path"] for file in manifest["files"]]
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert "| opening again |" in card
    assert "Tied by the scheme: veracity Quality" in card


def test_a_set_is_audited_by_the_turns_that_its_rows_are_about(runs, tmp_path):
    assert (
        export(
            runs / "shared",
            tmp_path / "set",
            "--max-shortcut",
            "1",
            "--scenarios used_car,quit_smoking",
        )
        == 0
    )
    found = read_audit(tmp_path / "set" / AUDIT)
    assert found.dialogues < 80
    assert found.of == found.dialogues


def test_without_an_audit_card_and_report_say_so(runs, tmp_path):
    (runs / "shared" / AUDIT).unlink(missing_ok=True)
    assert export(runs / "shared", tmp_path / "set") == 0
    assert "no audit was made" in (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert hipo(f"report {runs / 'shared'} -o {tmp_path / 'r.html'} --no-embeddings -q") == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "The run has not been audited" in page


def test_the_audit_of_a_run_stands_in_its_report_and_in_cards_of_its_sets(runs, tmp_path):
    audit(runs / "by-goal")
    assert export(runs / "by-goal", tmp_path / "set") == 0
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert "This was asked of the whole run by-goal" in card
    assert re.search(r"\| opening again \| goal \| (1\.0|0\.9)", card)
    assert hipo(f"report {runs / 'by-goal'} -o {tmp_path / 'r.html'} --no-embeddings -q") == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Must tell nothing" in page
    assert "the run as it was with" not in page


def test_an_audit_of_fewer_dialogues_than_the_run_has_now_says_so(runs, tmp_path):
    kept = runs / "by-goal" / AUDIT
    audit(runs / "by-goal")
    plain = orjson.loads(kept.read_bytes())
    kept.write_bytes(orjson.dumps(plain | {"of": 12}))
    assert hipo(f"report {runs / 'by-goal'} -o {tmp_path / 'r.html'} --no-embeddings -q") == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "the run as it was with 12 dialogues" in page


def test_rows_without_labels_of_answers_have_nothing_to_gate(runs, tmp_path, capsys):
    code = hipo(
        f"export {runs / 'shared'} --to sft --task initiator --any --no-parquet -q"
        f" -o {tmp_path / 'set'} --max-shortcut 0.1"
    )
    assert code == 2
    assert "no labels of answers in this kind of rows" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_pairs_whose_losers_are_longer_are_refused(tmp_path, capsys):
    from tests.outputs.corpora import exportable_run  # noqa: PLC0415

    run = exportable_run(tmp_path / "run", strategies=("consistency", "reflective"))
    command = f"export {run} --to dpo --splits 100,0,0 --no-parquet -q --include-deception"
    assert hipo(f"{command} -o {tmp_path / 'dpo'} --max-shortcut 0.2") == 2
    assert "length reads preferred at 0.9" in capsys.readouterr().err
    assert not (tmp_path / "dpo").exists()
