"""Three people with roles of their own and a stance that is assigned, from the estimate to the sets."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hipo.app.audit import audit
from hipo.cli.main import run as hipo
from outputs.audit.set_corpus import scheme_of
from tests.quality.viewer.viewing import viewed

HERE = Path(__file__).parent
SCHEME = HERE / "repair_talk.yaml"
GENERATE = (
    "generate", "--scheme", str(SCHEME), "--scenario-dir", str(HERE / "scenarios"), "--only",
    "--model", "offline/rules",
)  # fmt: skip
FIXED_ROLES = re.compile(r"\b(initiator|responder)", re.IGNORECASE)


@pytest.fixture(scope="module")
def verified(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("own_roles") / "run"
    assert hipo([*GENERATE, "-n", "8", "-o", str(folder), "-q"]) == 0
    assert hipo(["verify", str(folder), "--judge", "offline/judge", "-q", "--no-embeddings"]) == 0
    return folder


def test_the_estimate_calls_the_speakers_by_their_roles(capsys: pytest.CaptureFixture[str]) -> None:
    assert hipo([*GENERATE, "-n", "4", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "8 labelled turns per arm" in told
    assert re.search(r"^direct +4 +caretaker +\d+$", told, re.MULTILINE)
    assert re.search(r"^direct +4 +plumber, tenant +\d+$", told, re.MULTILINE)
    assert FIXED_ROLES.findall(told.replace("--task initiator", "")) == []


def test_facts_cannot_be_chosen_where_everybody_knows_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert hipo([*GENERATE, "--facts", "secret", "--dry-run"]) == 2
    told = capsys.readouterr().err
    assert "'secret' names facts of a scenario with a flow" in told
    assert "leave --facts out" in told
    assert hipo([*GENERATE, "--facts", "nothing", "--dry-run"]) == 2
    assert "facts: secret\n" in capsys.readouterr().err


def test_an_audit_reads_a_dimension_of_one_role_off_that_role_alone(
    verified: Path, tmp_path: Path
) -> None:
    whole = audit(verified)
    softness = {finding.probe for finding in whole.findings if finding.dimension == "softness"}
    assert {"position", "length"} <= softness
    folder = tmp_path / "set"
    assert (
        hipo(["export", str(verified), "--to", "benchmark", "--any", "-o", str(folder), "-q"]) == 0
    )
    of_set = audit(folder)
    assert (of_set.answers, of_set.dialogues) == (whole.answers, whole.dialogues)
    scheme = scheme_of(folder)
    assert scheme is not None
    assert scheme.assigned == "stance"
    assert "The scheme is not known" not in " ".join(of_set.remarks)


def test_the_card_of_a_set_knows_no_other_roles(verified: Path, tmp_path: Path) -> None:
    command = ["export", str(verified), "--to", "sft", "--any", "--splits", "100,0,0", "-q"]
    assert hipo([*command, "-o", str(tmp_path / "set")]) == 0
    card = (tmp_path / "set" / "README.md").read_text()
    assert FIXED_ROLES.findall(card) == []
    assert "nothing where they are the same words under every stance (8)" in card
    assert "(move of plumber and tenant, softness of plumber)" in card
    assert "| offline/rules | caretaker, plumber, tenant |" in card


def test_the_report_knows_no_other_roles(verified: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert hipo(["report", str(verified), "-o", str(page), "--no-embeddings", "-q"]) == 0
    body = page.read_text().split("</style>")[-1]
    assert FIXED_ROLES.findall(body) == []
    assert "improvised exchange" not in body
    assert ">labelled turns<" in body


def test_who_declared_labels_is_the_speaker(
    verified: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["agreement", str(verified), "--of", "external"]
    assert hipo([*command, "--with", "declared"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"offline/judge +speaker +softness", told)
    assert FIXED_ROLES.findall(told) == []


def test_runs_of_two_schemes_of_one_name_are_told_apart(
    verified: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "repair_talk.yaml"
    changed.write_text(SCHEME.read_text().replace("Without any softening.", "Harshly."))
    again = [str(changed) if part == str(SCHEME) else part for part in GENERATE]
    assert hipo([*again, "-n", "2", "-o", str(tmp_path / "run"), "-q"]) == 0
    assert hipo([*again, "-n", "8", "-o", str(verified), "-q"]) == 2
    told = capsys.readouterr().err
    assert "scheme repair_talk: its content has changed" in told
    assert "prompt templates" not in told
    runs = (str(verified), str(tmp_path / "run"))
    assert hipo(["export", *runs, "--any", "-o", str(tmp_path / "set"), "-q"]) == 2
    told = capsys.readouterr().err
    assert "of one of that name with other labels or definitions" in told
    assert "count its version up" in told


@pytest.fixture
def unpriced(verified: Path, tmp_path: Path) -> Path:
    """The run as if its generator had no price, beside a judge that costs nothing."""
    copy = tmp_path / "unpriced"
    shutil.copytree(verified, copy)
    with closing(sqlite3.connect(copy / "run.sqlite")) as connection, connection:
        connection.execute("update requests set cost_usd = null where model = 'offline/rules'")
        connection.execute(
            "update totals set unpriced = (select sum(cost_usd is null) from requests)"
        )
    return copy


def test_what_is_not_known_to_have_cost_nothing_is_nowhere_called_free(
    unpriced: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    assert hipo(["report", str(unpriced), "-o", str(page), "--no-embeddings", "-q"]) == 0
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.read_text()))
    glance = words[words.index("At a glance Label scheme") :].partition("Who wrote what")[0]
    assert re.search(r"unknown \d+ calls, .*; \d+ calls of unknown cost", glance)
    assert "$0.00" not in glance
    with viewed(unpriced) as site:
        told = re.sub(r"<[^>]+>", " ", site.text("/1/progress"))
    assert re.search(r"Cost +not known", told)


def test_results_on_other_labels_come_without_those_that_the_paper_printed(
    verified: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["evaluate", str(verified), "--any", "--task", "hipo-conversation", "--no-page", "-q"]
    assert hipo([*command, "-m", "offline/random", "-o", str(tmp_path / "results")]) == 0
    assert hipo(["evaluate", "report", str(tmp_path / "results")]) == 0
    capsys.readouterr()
    assert hipo(["evaluate", "table", str(tmp_path / "results")]) == 0
    told = capsys.readouterr().out
    assert told.startswith("# This corpus")
    assert "Published results" not in told


def test_prompts_are_titled_by_who_speaks(verified: Path) -> None:
    with viewed(verified) as site:
        [first, *_] = re.findall(r"/1/dialogue/(\w+/\w+)", site.text("/1/dialogues"))
        titles = re.findall(r"<summary>(.*?)</summary>", site.text(f"/1/prompts/{first}"))
    assert {"turn 1, tenant: offline/rules", "turn 2, plumber: offline/rules"} <= set(titles)
    assert FIXED_ROLES.findall(" ".join(titles)) == []
