"""The family social from a wanted emotion to the report: three reviewers, quality control, three modes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hipo.cli.main import run as hipo
from pipeline.store.run_store import RunStore
from scenarios.schemes.registry import load_scheme
from tests.families.reviewing import review
from tests.quality.review.serving import Served, served

pytestmark = pytest.mark.slow
SCENES = ("wrong_folder", "gatepost", "red_tomatoes", "drawer_six")
ITEMS = 2 * len(SCENES)
MODES = ("zero-shot", "cot", "icl")
EMOTIONS = load_scheme("cei").dimension("emotion").values


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("social")
    wanted = place / "wanted.yaml"
    wanted.write_text("margins:\n  emotion: {sadness: 1, anger: 1}\n")
    run = place / "run"
    played = hipo([
        "generate", "--scheme", "cei", "--scenarios", ",".join(SCENES), "--tactics", str(wanted),
        "--model", "offline/rules", "-o", str(run), "--repetitions", "2",
    ])  # fmt: skip
    assert played == 0
    assert hipo(["verify", str(run), "--judge", "offline/judge"]) == 0
    return run


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert hipo([*words, "--json", "-"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def read(site: Served, name: str, emotion: int) -> int:
    """Label all that is on the page as one reviewer, who gives one emotion by its number."""
    seen = set()

    def pick(field: str, values: Sequence[str]) -> str:
        seen.add(field)
        return values[emotion if field == "t0.emotion" else 2]

    pages = review(site, name, pick)
    assert {"t0.emotion", "t0.valence", "t0.confidence"} <= seen
    return pages


def test_a_wanted_emotion_is_said_in_a_scene_made_for_the_subtype(folder: Path) -> None:
    with RunStore.open(folder, readonly=True) as store:
        dialogues = list(store.dialogues(traces=False))
    assert {d.case.scenario for d in dialogues} == set(SCENES)
    for dialogue in dialogues:
        (turn,) = dialogue.turns
        assert (turn.role, turn.labelled) == ("speaker", True)
        assert {label.value for label in turn.tactic if label.dimension == "emotion"} <= {
            "sadness", "anger",
        }  # fmt: skip
    assert Counter(d.case.goal for d in dialogues)["sarcasm"] == 4


def test_three_people_review_on_the_page_and_quality_control_reads_their_answers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(folder, everything=True) as site:
        done = [read(site, name, emotion) for name, emotion in (("Ada", 4), ("Bea", 4), ("Cy", 3))]
    assert done == [ITEMS] * 3
    found = printed(capsys, "qc", str(folder))
    assert found["annotators"] == ["A01", "A02", "A03"]
    assert found["found"]["level 1"] == {}
    [emotion] = [d for d in found["dimensions"] if d["dimension"] == "emotion"]
    assert emotion["difficulty"][0]["majority"] == ITEMS
    [pair] = [p for p in emotion["confused"] if not p["group"]]
    assert ({pair["first"], pair["second"]}, pair["count"]) == ({"surprise", "sadness"}, 2 * ITEMS)
    assert emotion["adjacency"][0]["neighbours"] == 2 * ITEMS
    assert {row["label"] for row in emotion["gold"]} == {"sadness"}
    assert emotion["gold"][0]["note"].startswith("differs: ")


def test_what_is_exported_is_asked_about_in_three_modes_and_reported(folder: Path) -> None:
    benchmark, results = folder.parent / "set", folder.parent / "results"
    exported = ["export", str(folder), "--to", "benchmark", "-o", str(benchmark)]
    assert hipo([*exported, "--splits", "100,0,0"]) == 0
    modes = [word for mode in MODES for word in ("--mode", mode)]
    asked = ["evaluate", str(benchmark), "--task", "cei-emotion", *modes]
    assert hipo([*asked, "--model", "offline/judge", "-o", str(results), "--no-page"]) == 0
    rows = [json.loads(line) for line in (results / "results.jsonl").read_text().splitlines()]
    assert {row["mode"] for row in rows} == set(MODES)
    assert all(row["labels"]["emotion"] in EMOTIONS for row in rows)
    assert hipo(["report", str(folder)]) == 0
    page = (folder / "report.html").read_text()
    assert "speaker" in page.casefold()
    section = page[page.index("Disagreement of people") :]
    assert "Disagreements between neighbours on the wheel" in section
    assert section.index("surprise") < section.index(f"{2 * ITEMS} (100.0%)")
