"""People review on the page, a judge verifies; quality control and agreement read both from the run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hipo.app.verification.verify import verify
from hipo.cli.main import run as hipo
from tests.quality.review.serving import served
from tests.quality.review.test_review_agreement import gold_of, read_lines

ITEMS = 12


@pytest.fixture(scope="module")
def reviewed(_gold_lines: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that two people have labelled, one of them with three slips, and a judge."""
    gold_folder = Path(shutil.copytree(_gold_lines, tmp_path_factory.mktemp("reviewed") / "gold"))
    with served(gold_folder, mode="gold", most=ITEMS) as site:
        chosen = {item.id for item, _ in site.service.store.sheets.items(site.service.study)}
        gold = {key: labels for key, labels in gold_of(gold_folder).items() if key in chosen}
        read_lines(site, "Ada", gold, 0)
        read_lines(site, "Bea", gold, 3)
    verify(gold_folder, judges=["offline/judge"])
    return gold_folder


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert hipo([*words, "--json", "-"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_people_judges_and_declared_labels_of_a_run_are_compared_by_one_command(
    reviewed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = printed(capsys, "agreement", str(reviewed))
    assert people["groups"][0]["difficulty"]["veracity"] == {
        "items": ITEMS, "unanimous": ITEMS - 3, "majority": 0, "split": 3,
    }  # fmt: skip
    against = printed(capsys, "agreement", str(reviewed), "--with", "declared")
    same = {
        (pair["reader"], pair["dimension"]): (pair["items"], pair["same"])
        for pair in against["pairs"][0]["comparisons"]
    }
    assert same["A01", "veracity"] == (ITEMS, 1.0)
    assert same["A02", "veracity"] == (ITEMS, pytest.approx(9 / 12))
    judged = printed(capsys, "agreement", str(reviewed), "--of", "external", "--with", "human:A01")
    [pair] = [p for p in judged["pairs"][0]["comparisons"] if p["dimension"] == "veracity"]
    assert (pair["reader"], pair["other"], pair["items"]) == ("offline/judge", "A01", ITEMS)


def test_quality_control_reads_labels_and_times_of_a_study(
    reviewed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, "qc", str(reviewed))
    assert found["annotators"] == ["A01", "A02"]
    # A visitor that is a program answers at once.
    assert found["found"]["level 2"]["too_fast"] == 2 * ITEMS
    [veracity] = [one for one in found["dimensions"] if one["dimension"] == "veracity"]
    assert sum(item["undecided"] for item in veracity["to_adjudicate"]) == 3
    assert [(row["text"], row["items"]) for row in veracity["lengths"]] == [
        ("said", ITEMS), ("situation", ITEMS),
    ]  # fmt: skip


def test_a_run_that_nobody_has_reviewed_says_who_gave_labels(
    gold_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hipo(["agreement", str(gold_folder)]) == 2
    message = capsys.readouterr().err
    assert "no annotation of kind human" in message
    assert "declared:responder" in message


def test_a_run_of_roles_that_nobody_has_labelled_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scheme, said = tmp_path / "chats.yaml", tmp_path / "said.jsonl"
    assert hipo(["scheme", "new", "chats", "--flow", "-o", str(tmp_path)]) == 0
    line = {"labelled": ["seeker"], "messages": [{"role": "seeker", "content": "They droop."}]}
    said.write_text(json.dumps(line))
    run = str(tmp_path / "run")
    assert hipo(["import", str(said), "--scheme", str(scheme), "-o", run]) == 0
    assert hipo(["qc", run]) == 2
    assert "nobody has answered anything" in capsys.readouterr().err
