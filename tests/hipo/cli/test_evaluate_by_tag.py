"""Accuracy by the tag of a scenario: by who stands above whom, as the scheme ``cei`` tags scenes."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import orjson

from tests.hipo.cli.conftest import Hipo

TABLE = """id,power,sd_situation,sd_speaker_role,sd_listener_role,sd_utterance,\
sl_plutchik_primary_Ada,gold_standard
1,peer,The lift is stuck.,guest,guest,Lovely.,anger,anger
2,low-to-high,The soup is cold.,cook,owner,How kind.,anger,sadness
3,peer,The train left.,guest,guest,There is another.,trust,trust
4,,It rains.,guest,guide,You promised sun.,sadness,anger
"""


def imported(hipo: Hipo) -> None:
    """Make a run of a table with a column for power, which the map makes a tag."""
    Path("data_sarcasm.csv").write_text(TABLE)
    assert hipo("import", "data_sarcasm.csv", "--map", "cei", "-o", "read").code == 0


def asked(hipo: Hipo, source: str, folder: str) -> dict[str, Any]:
    """Ask a program about all items; return its accuracy by tag, and what it should be."""
    wish = () if source == "set" else ("--any",)
    done = hipo(
        "evaluate", source, *wish, "--task", "cei-emotion", "--model", "offline/random",
        "-o", folder,
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = [orjson.loads(line) for line in Path(folder, "results.jsonl").read_bytes().splitlines()]
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for row in rows:
        for tag in row["tags"]:
            right[tag].append(next(iter(row["right"].values()))["emotion"])
    [score] = orjson.loads(Path(folder, "scores.json").read_bytes())["scores"]
    found = {
        group["group"]: (group["n"], group["accuracy"]["value"])
        for group in score["groups"]
        if group["by"] == "tag"
    }
    assert found == {tag: (len(given), sum(given) / len(given)) for tag, given in right.items()}
    return found


def test_power_in_a_column_of_a_table_is_a_part_of_the_items(hipo: Hipo) -> None:
    imported(hipo)
    found = asked(hipo, "read", "evaluated")
    assert {tag: n for tag, (n, _) in found.items()} == {"peer": 2, "low-to-high": 1}
    page = Path("evaluated/index.html").read_text()
    assert "by tag" in page
    export = ("export", "read", "--any", "--to", "benchmark", "-o", "set")
    assert hipo(*export).code == 0
    assert asked(hipo, "set", "again") == found
    command = ("agreement", "read", "--with", "adjudicated", "--by", "tag", "--json", "-")
    assert {some["group"] for some in hipo(*command).data["pairs"]} >= {"peer", "low-to-high"}


def test_scenes_of_the_library_are_told_apart_by_power(hipo: Hipo) -> None:
    scenes = "cake_at_nine,no_party,island_cup,top_note"
    played = hipo(
        "generate", "--scheme", "cei", "--scenarios", scenes, "--model", "offline/rules",
        "-o", "played", "-q",
    )  # fmt: skip
    assert played.code == 0, played.err
    found = asked(hipo, "played", "evaluated")
    assert set(found) <= {"peer", "high-to-low", "low-to-high"}
    assert len(found) > 1
