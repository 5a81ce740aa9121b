"""Playing scenarios of one's own: alone, beside what ships, and where they are broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hipo.cli.conftest import damage

DRY = ("--model", "offline/rules", "-n", "4", "--dry-run")


def test_only_plays_ones_own_folder_without_the_library(hipo, pack):
    made = hipo(
        "generate", "--scenario-dir", "pack", "--only", "--model", "offline/rules", "-n", "4",
        "-o", "runs/own", "-q",
    )  # fmt: skip
    assert made.code == 0, made.err
    assert {d["scenario"] for d in hipo("show", "runs/own", "--format", "json").data} == {"my_car"}
    # the same command goes on, and has nothing to add
    again = hipo(
        "generate", "--scenario-dir", "pack", "--only", *DRY, "-o", "runs/own", "--format", "json"
    )
    assert (again.data["dialogues"], again.data["present"]) == (0, 4)


def test_the_dry_run_says_how_many_scenarios_of_which_pack(hipo, pack):
    both = hipo("generate", "--scenario-dir", "pack", *DRY)
    assert both.out.splitlines()[0].endswith(", from 32 scenarios (pack 1, the library 31)")
    only = hipo("generate", "--scenario-dir", "pack", "--only", *DRY)
    assert only.out.splitlines()[0].endswith(", from 1 scenario (pack)")
    family = hipo("generate", "--scheme", "face_acts", *DRY, "--format", "json")
    assert family.data["packs"] == {"the family persuasion": 5}


def test_only_without_a_folder_of_ones_own_says_what_to_name(hipo, pack, monkeypatch):
    refused = hipo("generate", "--only", *DRY)
    assert (refused.code, "give --scenario-dir FOLDER" in refused.err) == (2, True)
    monkeypatch.setenv("HIPO_SCENARIO_PATH", str(pack))
    assert ", from 1 scenario (pack)\n" in hipo("generate", "--only", *DRY).out


def test_a_folder_of_another_scheme_says_which_scheme_to_name(hipo, pack):
    for own, way in (("my_labels", "--scheme FILE"), ("cei", "--scheme cei")):
        assert hipo("scheme", "new", "my_labels", "-o", own).code == 0
        labels = f"{own}/my_labels.yaml" if own == "my_labels" else own
        assert hipo("scenarios", "new", "scene", "--scheme", labels, "-o", own).code == 0
        refused = hipo("generate", "--scenario-dir", own, "--only", *DRY)
        assert refused.code == 2
        assert "there is no scenario of the scheme 'hipo'" in refused.err
        assert f"those of --scenario-dir are of the scheme {own}: give {way}" in refused.err
    ships = hipo("generate", "--scheme", "my_labels/my_labels.yaml", *DRY)
    assert "name a folder of them with --scenario-dir" in ships.err


@pytest.mark.parametrize("only", [[], ["--only"]])
def test_a_broken_pack_says_how_many_more_problems_validate_shows(hipo, pack, only):
    text = (pack / "my_car.yaml").read_text(encoding="utf-8")
    (pack / "their_car.yaml").write_text(text.replace("id: my_car", "id: their_car", 1))
    damage(pack, "tags: [everyday", "tags: [everday")
    damage(pack, "2026-06", "2026-16")
    Path("pack/torn.yaml").write_text("id: torn\ntitle: [\n", encoding="utf-8")
    refused = hipo("generate", "--scenario-dir", "pack", *only, *DRY)
    assert refused.code == 2
    assert "pack/torn.yaml" in refused.err
    # two wrong values; a scenario that tells what the other one tells keeps nobody from using it
    assert "hipo scenarios validate pack shows 2 more problems and 1 warning\n" in refused.err
    Path("pack/torn.yaml").unlink()
    refused = hipo("generate", "--scenario-dir", "pack", *only, *DRY)
    assert refused.err.count("pack/my_car.yaml:") == 2
    assert "hipo scenarios validate" not in refused.err
