"""The commands around the review page."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import NoReturn

import pytest

from pipeline.run_material import RunMaterial
from pipeline.store.reviews import ReviewStore
from scenarios.case import Case
from scenarios.errors import UsageError
from tests.conftest import MadeOnce
from tests.hipo.cli.conftest import Hipo
from tests.quality.review.serving import generated_run


@pytest.fixture
def run(hipo: Hipo, tmp_path: Path, made_once: MadeOnce) -> Path:
    """Four dialogues in an otherwise empty folder."""
    folder = tmp_path / "run"
    return made_once("review", folder, lambda: generated_run(folder, n=4, turns=[1]))


def test_a_study_goes_out_and_comes_back_as_csv(hipo: Hipo, run: Path) -> None:
    exported = hipo("review", "export", str(run), "--to", "csv", "--blank", "--all", "-o", "out")
    assert exported.code == 0
    assert exported.out.strip() == "out/blank.csv"
    table = Path("out/blank.csv").read_text(encoding="utf-8-sig").splitlines()
    head = table[0].split(",")
    cells = table[1].split(",")
    item = cells[head.index("item")]
    Path("in.csv").write_text(f"item,annotator,veracity\n{item},Ada,Quality\n")
    first = hipo("review", "import", str(run), "in.csv")
    assert (first.code, first.out) == (0, "1 answer added, 0 changed, 0 known already\n")
    again = hipo("review", "import", str(run), "in.csv")
    assert again.out == "0 answers added, 0 changed, 1 known already\n"


@pytest.mark.parametrize(
    ("to", "files"),
    [
        ("label-studio", ["label-studio.json", "label-studio.xml"]),
        ("argilla", ["argilla.jsonl", "argilla.settings.json"]),
        ("pdf", ["form.pdf"]),
    ],
)
def test_other_tools_get_their_files(hipo: Hipo, run: Path, to: str, files: list[str]) -> None:
    if to == "pdf":
        pytest.importorskip("reportlab")
    result = hipo("review", "export", str(run), "--to", to, "--mode", "quiz", "--all", "-n", "2")
    assert result.code == 0
    assert sorted(path.name for path in (run / "review-quiz").iterdir()) == files


def test_a_file_that_is_named_is_a_file_and_no_folder(hipo: Hipo, run: Path) -> None:
    out = ("--to", "label-studio", "--all", "-o", "tasks.json")
    assert hipo("review", "export", str(run), *out).code == 0
    assert Path("tasks.json").is_file()
    assert Path("tasks.xml").is_file()
    refused = hipo("review", "export", str(run), "--to", "csv", "--all", "-o", "more.json")
    assert refused.code == 2
    assert "name it more.csv, or name a folder" in refused.err
    assert not Path("more.json").exists()
    hipo("review", "export", str(run), "--to", "csv", "--all", "-o", "answers.csv")
    assert Path("answers.csv").is_file()


def test_nothing_to_review_is_said_before_anything_is_served(hipo: Hipo, run: Path) -> None:
    result = hipo("review", "serve", str(run))
    assert result.code == 2
    assert "hipo verify" in result.err


def test_other_machines_are_refused_without_encryption_and_accounts(hipo: Hipo, run: Path) -> None:
    result = hipo("review", "serve", str(run), "--all", "--host", "0.0.0.0")
    assert result.code == 2
    assert "nothing would be encrypted" in result.err
    proxied = hipo("review", "serve", str(run), "--all", "--trusted-proxy", "127.0.0.1")
    assert proxied.code == 2
    assert "hipo review user add" in proxied.err


def test_a_page_behind_a_proxy_needs_to_know_its_name(
    hipo: Hipo, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    assert hipo("review", "user", "add", str(run), "Ada").code == 0
    command = ("review", "serve", str(run), "--all", "--trusted-proxy", "172.18.0.0/16")
    unnamed = hipo(*command, "--trusted-proxy", "10.0.0.1")
    assert unnamed.code == 2
    assert "--public-url https://" in unnamed.err
    assert hipo(*command, "--public-url", "http://review.test").code == 2


def test_an_account_has_a_password_that_is_not_stored(
    hipo: Hipo, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    assert hipo("review", "user", "add", str(run), "Ada").code == 2
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    assert hipo("review", "user", "add", str(run), "Ada", "--expert").code == 0
    listed = hipo("review", "user", "list", str(run), "--format", "json").data
    assert [(p["code"], p["name"], p["role"], p["account"]) for p in listed] == [
        ("E01", "Ada", "expert", True)
    ]
    assert b"correct horse" not in (run / "run.sqlite").read_bytes()


def test_a_person_is_erased_by_name_or_code(hipo: Hipo, run: Path) -> None:
    with ReviewStore.open(run) as store:
        store.people.known_as("Ada")
    assert hipo("review", "user", "erase", str(run), "Bea").code == 2
    assert hipo("review", "user", "erase", str(run), "ada").code == 0
    (person,) = hipo("review", "user", "list", str(run), "--format", "json").data
    assert (person["name"], person["erased"]) == (None, True)


def test_a_wrong_file_is_named_with_its_lines(hipo: Hipo, run: Path) -> None:
    hipo("review", "export", str(run), "--to", "csv", "--all")
    Path("in.csv").write_text("item,annotator,veracity\nno/such#3,Ada,Quality\n")
    result = hipo("review", "import", str(run), "in.csv")
    assert result.code == 2
    assert "in.csv:2" in result.err
    assert hipo("review", "import", str(run), "missing.csv").code == 2


def test_a_report_of_what_only_people_decided_names_no_policy(hipo: Hipo, run: Path) -> None:
    sheet = ("--to", "csv", "--blank", "--all", "--per-item", "1", "-o", "sheet.csv")
    hipo("review", "export", str(run), *sheet)
    with Path("sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        items = [row["item"] for row in csv.DictReader(file) if "#" not in row["item"]]
    rows = "".join(f"{item},Ada,rejected\n" for item in items)
    Path("in.csv").write_text(f"item,annotator,issue\n{rows}")
    assert hipo("review", "import", str(run), "in.csv").code == 0
    assert hipo("report", str(run), "-o", "report.html", "--no-embeddings").code == 0
    page = Path("report.html").read_text()
    assert f"People decided on {len(items)} of the {len(items)} dialogues that are settled." in page
    assert f"of {len(items)} that people decided on" in page
    assert "()" not in page


def test_figures_of_a_review_are_written_as_those_of_agreement(hipo: Hipo, run: Path) -> None:
    sheet = ("--to", "csv", "--blank", "--all", "--per-item", "2", "-o", "sheet.csv")
    hipo("review", "export", str(run), *sheet)
    with Path("sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        items = [row["item"] for row in csv.DictReader(file) if "#" in row["item"]]
    labels = ("Quality", "Quantity", "Quality")
    rows = "".join(
        f"{item},{person},{labels[(place + step * (place % 3)) % 3]}\n"
        for place, item in enumerate(items)
        for step, person in enumerate(("Ada", "Bea"))
    )
    Path("in.csv").write_text(f"item,annotator,veracity\n{rows}")
    assert hipo("review", "import", str(run), "in.csv").code == 0
    told, whole = (
        hipo(*words, str(run)).out for words in (("review", "agreement"), ("agreement",))
    )
    figures = [line.split() for line in told.splitlines() if line.startswith("veracity")]
    assert figures
    assert all(row in [line.split() for line in whole.splitlines()] for row in figures)


def test_a_misspelt_study_is_named_and_not_begun(hipo: Hipo, run: Path) -> None:
    assert hipo("review", "export", str(run), "--to", "csv", "--all", "--study", "main").code == 0
    refused = hipo("review", "export", str(run), "--to", "csv", "--all", "--study", "mian")
    assert refused.code == 2
    assert "this run has no study 'mian'" in refused.err
    assert "it has: main" in refused.err


def test_a_study_without_any_item_is_not_begun(hipo: Hipo, run: Path) -> None:
    assert hipo("review", "export", str(run), "--to", "csv").code == 2
    assert hipo("review", "export", str(run), "--to", "csv", "--all", "--study", "main").code == 0
    assert hipo("review", "agreement", str(run)).code == 0, "there is one study to choose from"


def test_a_study_that_could_not_be_filled_is_not_left_empty(
    hipo: Hipo, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: object, case: Case) -> NoReturn:
        raise UsageError(f"the scenario of {case.id} is not there")

    out = ("review", "export", str(run), "--all", "--to", "csv", "-o", "answers")
    with monkeypatch.context() as patched:
        patched.setattr(RunMaterial, "scenario_as_told", missing)
        assert "is not there" in hipo(*out).err
    with ReviewStore.open(run) as store:
        assert store.studies.all() == []
    assert hipo(*out).code == 0


def test_a_sheet_that_was_filled_in_is_not_written_over(hipo: Hipo, run: Path) -> None:
    blank = ("review", "export", str(run), "--to", "csv", "--blank", "--all", "-o", "sheet.csv")
    assert hipo(*blank).code == hipo(*blank).code == 0
    sheet = Path("sheet.csv")
    filled = sheet.read_text(encoding="utf-8-sig") + "\n"
    sheet.write_text(filled)
    refused = hipo(*blank)
    assert refused.code == 2
    assert "sheet.csv is there already, and may have been filled in" in refused.err
    assert sheet.read_text() == filled


def test_a_place_that_cannot_be_written_is_a_mistake_of_the_users(hipo: Hipo, run: Path) -> None:
    Path("file").write_text("")
    result = hipo("review", "export", str(run), "--to", "csv", "--all", "-o", "file/out.csv")
    assert result.code == 2
    assert "file/out.csv cannot be written" in result.err


@pytest.mark.parametrize(
    ("encoding", "delimiter"), [("utf-8", "\t"), ("utf-16", "\t"), ("utf-8-sig", ";")]
)
def test_tables_of_spreadsheets_are_read(
    hipo: Hipo, run: Path, encoding: str, delimiter: str
) -> None:
    hipo("review", "export", str(run), "--to", "csv", "--blank", "--all", "-o", "blank.csv")
    item = Path("blank.csv").read_text(encoding="utf-8-sig").splitlines()[1].split(",")[0]
    rows = [["item", "annotator", "veracity"], [item, "Märta", "Quality"]]
    text = "".join(delimiter.join(row) + "\r\n" for row in rows)
    Path("in.csv").write_bytes(text.encode(encoding))
    assert hipo("review", "import", str(run), "in.csv").out.startswith("1 answer added")
    Path("in.csv").write_bytes(text.encode("cp1252"))
    refused = hipo("review", "import", str(run), "in.csv")
    assert refused.code == 2
    assert "in.csv:2: found letters in another encoding than UTF-8" in refused.err
    assert "CSV UTF-8" in refused.err


def test_a_label_that_does_not_exist_cannot_be_hidden(hipo: Hipo, run: Path) -> None:
    result = hipo("review", "serve", str(run), "--all", "--hide", "veracity=Non")
    assert result.code == 2
    assert "veracity=None" in result.err


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (("--mode", "review"), "--mode quiz"),
        (("--per-item", "2"), "--per-item 3"),
        (("-n", "1"), "2 dialogues"),
    ],
)
def test_a_study_that_was_begun_otherwise_is_refused_and_nothing_is_written(
    run: Path, hipo: Hipo, given: tuple[str, ...], found: str
) -> None:
    export = ("review", "export", str(run), "--to", "csv", "--study", "first", "-o")
    begun = ("--mode", "quiz", "--all", "-n", "2")
    assert hipo(*export, "one.csv", *begun).code == 0
    assert hipo(*export, "again.csv", *begun).code == 0
    refused = hipo(*export, "other.csv", *given)
    assert (refused.code, refused.out) == (2, "")
    assert f"the study first was begun with {found}, and stays as it is" in refused.err
    nobody = hipo(*export, "other.csv", "--annotator", "R9")
    assert (nobody.code, "the study first holds no answer of 'R9'" in nobody.err) == (2, True)
    assert not Path("other.csv").exists()
