"""A run that went on after somebody had mended the text of a scenario."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hipo.cli.main import run as hipo
from tests.outputs.corpora import rows_in

BEFORE, AFTER = "three weeks abroad", "two weeks abroad"


def command(folder: Path) -> list[str]:
    return [
        "generate", "--scenario-dir", str(folder / "pack"), "--only", "-m", "offline/rules", "--turns", "1",
        "--vary", "persona", "-o", str(folder / "run"), "-q", "-n", "2",
    ]  # fmt: skip


def mend(path: Path, before: str, after: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")


@pytest.fixture(scope="module")
def mended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four dialogues, of which two have the text that was mended in the middle."""
    folder = tmp_path_factory.mktemp("mended")
    assert hipo(["scenarios", "new", "flat", "-o", str(folder / "pack")]) == 0
    assert hipo(command(folder)) == 0
    mend(folder / "pack/flat.yaml", BEFORE, AFTER)
    assert hipo([*command(folder), "--resume", "always"]) == 0
    return folder / "run"


def texts(folder: Path) -> Counter[str]:
    return Counter(
        text for row in rows_in(folder) for text in (BEFORE, AFTER) if text in row["situation"]
    )


def test_an_export_says_that_two_texts_of_a_scenario_are_in_it(
    mended: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hipo(["export", str(mended), "-o", str(tmp_path / "all")]) == 0
    assert texts(tmp_path / "all") == {BEFORE: 2, AFTER: 2}
    told = "dialogues of flat with a text that was changed while the run was made: 2; --newest"
    assert told in " ".join(capsys.readouterr().out.split())


def test_the_newest_text_alone_is_exported_on_demand(
    mended: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hipo(["export", str(mended), "--newest", "-o", str(tmp_path / "new")]) == 0
    assert texts(tmp_path / "new") == {AFTER: 2}
    told = " ".join(capsys.readouterr().out.split())
    assert "left out: 2 dialogues not asked for" in told
    assert "changed while the run was made" not in told
    assert '"newest": true' in (tmp_path / "new/manifest.json").read_text(encoding="utf-8")


def test_the_report_names_what_was_changed(mended: Path, tmp_path: Path) -> None:
    assert hipo(["report", str(mended), "-o", str(tmp_path / "r.html"), "--no-embeddings"]) == 0
    page = " ".join((tmp_path / "r.html").read_text(encoding="utf-8").split())
    assert "The text of scenarios was changed, too: flat." in page


def test_the_flat_table_says_what_was_varied(mended: Path, tmp_path: Path) -> None:
    assert hipo(["export", str(mended), "--to", "turns", "-o", str(tmp_path / "flat"), "-q"]) == 0
    assert hipo(["export", str(mended), "-o", str(tmp_path / "whole"), "-q"]) == 0
    drawn = {
        row["id"]: {one["axis"]: one["value"] for one in row["variation"]}
        for row in rows_in(tmp_path / "whole")
    }
    lines = rows_in(tmp_path / "flat")
    assert lines
    for line in lines:
        parts = dict(part.split("=") for part in line["variation"].split(" | "))
        assert parts == drawn[f"{line['case']}/{line['arm']}"]
        assert parts.keys() == {"openings", "persona_initiator", "persona_responder"}


def test_a_refusal_says_that_a_changed_scenario_is_played_anew(
    mended: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mend(mended.parent / "pack/flat.yaml", AFTER, "five weeks abroad")
    assert hipo(command(mended.parent)) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "scenario flat: its content has changed" in told
    assert "cases of a changed scenario are played anew, beside those there are" in told
