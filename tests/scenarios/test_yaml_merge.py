"""Changing values in the text of a YAML file."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from scenarios.errors import UsageError
from scenarios.pack import FAMILIES, LIBRARY, scenario_files
from scenarios.scaffold import new_scenario
from scenarios.schemes.registry import shipped_files
from scenarios.yaml_merge import merged_yaml
from scenarios.yaml_source import read_yaml_text

FILES = [*scenario_files(LIBRARY), *scenario_files(FAMILIES), *shipped_files()]
TEXTS = [
    "new text", "yes", "null", "1", "- a", "a: b", "x #y", '"q"', "multi\nline", " lead", "", "true",
    "long " * 40 + "end", "long  " * 40, "\u4e2d\u6587" * 60, "~", "{a}", "[x", "*a", "&b", "!c",
    "%d", "@e", "`f", "it's", "a, b", "1.5", "2026-01", "# no comment " * 20 + "x",
]  # fmt: skip


def changed(value: Any, chance: random.Random) -> Any:
    """Return data with one change somewhere: a text, a field, or an item of a list."""
    what = chance.random()
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        if what < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if what < 0.2:
            new = [chance.choice(TEXTS), ["a b", "c, d"], {"p": "q", "r": ["s"] * 9}]
            return {**value, "new_key": chance.choice(new)}
        return {**value, key: changed(value[key], chance)}
    if isinstance(value, list) and value:
        items = list(value)
        place = chance.randrange(len(items))
        if what < 0.25:
            del items[place]
        elif what < 0.4:
            items.insert(place, copy.deepcopy(chance.choice(items)))
        elif what < 0.5:
            chance.shuffle(items)
        else:
            items[place] = changed(items[place], chance)
        return items
    return chance.choice(TEXTS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_whatever_changes_the_file_holds_it_afterwards(file):
    text = file.read_text(encoding="utf-8")
    chance = random.Random(file.stem)
    for _ in range(3):
        data = copy.deepcopy(read_yaml_text(text, "f.yaml").data)
        for _ in range(chance.randint(1, 4)):
            data = changed(data, chance)
        if isinstance(data, dict) and data:
            assert read_yaml_text(merged_yaml(text, data, "f.yaml"), "f.yaml").data == data


def test_what_does_not_change_keeps_its_lines_and_every_comment(hipo):
    text = new_scenario("lost", hipo)
    data: Any = copy.deepcopy(read_yaml_text(text, "f.yaml").data)
    assert merged_yaml(text, data, "f.yaml") == text
    data["title"] = "Another one"
    data["facts"][1]["text"] = "The neighbour forgot it."
    data["facts"].append({"id": "third", "about": "x", "text": "Y is so.", "makes_false": ["a"]})
    after = merged_yaml(text, data, "f.yaml").splitlines()
    before = text.splitlines()
    gone = [line for line in before if line not in after]
    assert gone == [
        "title: Three weeks of watering",
        "    text: The neighbour let a stray cat in, and it pushed the pot off the sill.",
    ]
    added = [line for line in after if line not in before]
    assert added == [
        "title: Another one", "    text: The neighbour forgot it.", "  - id: third", "    about: x",
        "    text: Y is so.", "    makes_false: [a]",
    ]  # fmt: skip
    evidence = after.index("evidence:")
    assert after[evidence - 1] == "# What in the world would bring facts to light. May be left out."


def test_a_file_that_cannot_be_changed_in_place_is_refused():
    with pytest.raises(UsageError, match="cannot be changed in place"):
        merged_yaml("{a: one, b: two}\n", {"a": "two", "b": "one"}, "f.yaml")
