"""Two people read gold lines on the page; what is printed of them is counted by hand here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from hipo.app.verification.verify import verify
from hipo.cli.main import run as hipo
from pipeline.store.run_store import RunStore
from scenarios.dialogue import Dialogue
from scenarios.schemes.registry import load_scheme
from tests.quality.review.serving import Served, served
from tests.quality.review.visitor import Visitor, csrf_of

SCHEME = load_scheme("hipo")
ITEMS = 12


def gold_of(folder: Path) -> dict[str, dict[str, str]]:
    """Return the labels of every line by its id in the run."""
    with RunStore.open(folder, readonly=True) as store:
        return {
            _id(d): {str(t.dimension): str(t.value) for t in d.turns[1].tactic}
            for d in store.dialogues()
        }


def _id(dialogue: Dialogue) -> str:
    return f"{dialogue.case.id}/{dialogue.arm}"


def read_lines(site: Served, name: str, gold: dict[str, dict[str, str]], wrong: int) -> None:
    """Answer with the gold labels, but for veracity of the first ``wrong`` lines, in order of ids."""
    visitor = Visitor(site.url)
    path = visitor.come_in(site.link(), name)
    first = sorted(gold)[:wrong]
    store, study = site.service.store, site.service.study
    while path.startswith("/item/"):
        number = int(path.rpartition("/")[2])
        held = (store.assignment(study, number, who) for who in (1, 2))
        item = next(one.item.id for one in held if one)
        labels = dict(gold[item])
        if item in first:
            labels["veracity"] = "None" if labels["veracity"] != "None" else "Quality"
        _, page = visitor.get(path)
        fields = {f"t1.{key}": value for key, value in labels.items()}
        sent = visitor.submit(
            path, urlencode({"csrf": csrf_of(page.text), "stage": "labels", **fields})
        )
        assert sent.status == 303
        path, _ = visitor.get(sent.location)


def printed(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> str:
    """Return what the command prints."""
    capsys.readouterr()
    assert hipo(["review", "agreement", str(folder), *options]) == 0
    return capsys.readouterr().out


def test_a_run_of_gold_lines_nobody_has_read_has_no_human_readings(
    gold_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, gold_folder).endswith("human readings: 0\n")
    with served(gold_folder, mode="gold", most=2) as site:
        chosen = {item.id for item, _ in site.service.store.sheets.items(site.service.study)}
        gold = {key: labels for key, labels in gold_of(gold_folder).items() if key in chosen}
        read_lines(site, "Ada", gold, 0)
    text = printed(capsys, gold_folder)
    assert "human readings: 0\n1 person has answered lines that nobody else has" in text
    assert "kappa" not in text
    data = json.loads(printed(capsys, gold_folder, "--format", "json"))
    assert (data["human_readings"], data["agreement"], data["against_gold"]) == (0, [], [])


def test_two_people_are_held_against_each_other_gold_and_programs(
    gold_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(gold_folder, mode="gold", most=ITEMS) as site:
        chosen = {item.id for item, _ in site.service.store.sheets.items(site.service.study)}
        gold = {key: labels for key, labels in gold_of(gold_folder).items() if key in chosen}
        read_lines(site, "Ada", gold, 0)
        read_lines(site, "Bea", gold, 3)
    verify(gold_folder, judges=["offline/judge"])
    data = json.loads(printed(capsys, gold_folder, "--format", "json"))
    assert data["human_readings"] == 2
    read = {"lines": ITEMS, "dialogues": 0}
    assert data["readers"] == {"A01": read, "A02": read}
    same = {(row["dimension"], row["statistic"]): row["value"] for row in data["agreement"]}
    assert same["veracity", "percent agreement"] == pytest.approx(9 / 12)
    assert same["intention", "percent agreement"] == 1.0
    found = {(row["reader"], row["dimension"]): row for row in data["against_gold"]}
    assert found["A01", "veracity"]["kappa"] == pytest.approx(1.0)
    bea = found["A02", "veracity"]
    assert (bea["items"], bea["same"]) == (ITEMS, pytest.approx(9 / 12))
    values = next(d.values for d in SCHEME.dimensions if d.id == "veracity")
    expected = [[0] * len(values) for _ in values]
    for number, key in enumerate(sorted(gold)):
        label = gold[key]["veracity"]
        said = label if number >= 3 else "None" if label != "None" else "Quality"
        expected[values.index(label)][values.index(said)] += 1
    assert bea["matrix"] == expected
    specific = {
        label: 2 * expected[i][i] / given
        for i, label in enumerate(values)
        if (given := sum(expected[i]) + sum(row[i] for row in expected))
    }
    for rows in (data["labels"], bea["by_label"]):
        found = {r["label"]: r["specific"] for r in rows if r["dimension"] == "veracity"}
        assert found == {label: specific.get(label) for label in values}
    chance = (
        sum(sum(expected[i]) * sum(row[i] for row in expected) for i in range(len(values)))
        / ITEMS**2
    )
    assert bea["kappa"] == pytest.approx((9 / 12 - chance) / (1 - chance))
    programs = {row["other"] for row in data["against_programs"]}
    assert programs == {"reading 1", "reading 2", "offline/judge"}
    text = printed(capsys, gold_folder)
    assert "human readings: 2\n  A01  12 lines\n  A02  12 lines" in text
    assert "veracity: rows gold, columns A02" in text
    assert re.search(rf"\nveracity +None +{specific['None']:.3f} ", text)
    assert text.count("intervals draw items one by one") == 1
    assert text.count("label by label: specific agreement") == 1
    assert re.search(r"A02 +gold +veracity +0\.750 ", text)
    assert "each person against readings by programs" in text
