"""Agreement and accuracy by relation of power, on the released utterances of CEI."""

import json

import pytest

from hipo.cli.main import run
from quality.tables.checking import read_files
from tests.reference.cei import reference_folder
from tests.reference.commands import figures, statistics

RELATIONS = {"peer", "high-to-low", "low-to-high"}
FOUND = {"sarcasm": (39, 11, 10), "mixed": (25, 28, 7), "deflection": (34, 13, 13)}
"""By subtype, of 60: peers, downward, upward. The files do not say them; people's names do."""


@pytest.fixture(scope="module")
def paths():
    found = {n: sorted(reference_folder("cei").glob(f"*{n}*.csv")) for n in FOUND}
    if not all(found.values()):
        pytest.skip("not all of the three released files are here")
    return {name: files[0] for name, files in found.items()}


@pytest.fixture(scope="module")
def by_power(paths, tmp_path_factory):
    target = tmp_path_factory.mktemp("cei") / "power.json"
    command = ("agreement", *paths.values(), "--map", "cei", "--by", "tag")
    return {g["group"]: g for g in figures(target, *command)["groups"]}


def test_every_utterance_is_in_one_of_three_relations_and_most_are_of_peers(by_power):
    whole = by_power.pop("")
    assert by_power.keys() == RELATIONS
    assert sum(group["items"] for group in by_power.values()) == whole["items"] == 180
    # CEI, section 3.1: 72 % of all five subtypes.
    assert max(by_power, key=lambda name: by_power[name]["items"]) == "peer"


def test_each_file_has_its_relations(paths, tmp_path):
    for name, path in paths.items():
        found = figures(tmp_path / "one.json", "agreement", path, "--map", "cei", "--by", "tag")
        sizes = {group["group"]: group["items"] for group in found["groups"]}
        assert tuple(sizes[r] for r in ("peer", "high-to-low", "low-to-high")) == FOUND[name]


def test_kappa_and_splits_of_each_relation(by_power):
    """Beside .178 of all 180: computed from the released files."""
    kappas = {r: statistics(by_power[r])["emotion", "Fleiss kappa"]["value"] for r in RELATIONS}
    assert kappas == pytest.approx(
        {"peer": 0.110, "high-to-low": 0.219, "low-to-high": 0.255}, abs=5e-4
    )
    splits = {r: tuple(by_power[r]["difficulty"]["emotion"].values())[1:] for r in RELATIONS}
    assert splits == {
        "peer": (8, 51, 39), "high-to-low": (9, 26, 17), "low-to-high": (8, 11, 11),
    }  # fmt: skip


def test_accuracy_of_people_by_relation_is_that_of_its_utterances(paths, tmp_path, capsys):
    folder, asked = tmp_path / "run", tmp_path / "asked"
    assert run(["import", *map(str, paths.values()), "--map", "cei", "-o", str(folder)]) == 0
    command = ["evaluate", str(folder), "--any", "--task", "cei-emotion", "--no-page"]
    assert run([*command, "--model", "offline/random", "-o", str(asked)]) == 0
    capsys.readouterr()
    assert run(["evaluate", "people", str(asked), str(folder), "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)

    files = read_files(list(paths.values()), "cei")
    gold, relations = {a.item: a.value for a in files.gold}, files.table.by("tag")
    right = {r: [] for r in RELATIONS}
    for answer in files.answers:
        if answer.dimension == "emotion":
            right[relations[answer.item]].append(answer.value == gold[answer.item])
    (table,) = [one for one in printed["kappa_by_group"] if one["by"] == "tag"]
    found = {group["group"]: group["accuracies"] for group in table["groups"]}
    assert {r: one["people"] for r, one in found.items()} == pytest.approx(
        {r: sum(answers) / len(answers) for r, answers in right.items()}
    )
    assert found["peer"].keys() == {"people", "people (majority)", "offline/random"}
    (people,) = [one for one in printed["scores"] if one["model"] == "people"]
    chosen = [c for c in printed["choices"] if c["who"] == "people" and c["chosen"] == c["right"]]
    right = sum(c["answers"] for c in chosen)
    assert right == pytest.approx(people["accuracy"]["value"] * 3 * people["items"])
