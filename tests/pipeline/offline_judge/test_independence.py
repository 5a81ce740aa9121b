"""The judge and what it judges share no phrase, so that one grammar does not mark its own work."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import yaml

import pipeline

HERE = Path(pipeline.__file__).parent
RULES, JUDGE = HERE / "offline", HERE / "offline_judge"
RUN = 4
FORMAT = {"pipeline.offline.reading"}
"""What both have to know: how a prompt and its answer are laid out."""


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def runs(text):
    words = re.findall(r"[a-z']+", text.lower())
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def phrases_of(folder):
    """Return every run of four words in a phrase; word lists are no phrases."""
    found = set()
    for path in (folder / "data").glob("*.yaml"):
        for text in strings(yaml.safe_load(path.read_text("utf-8"))):
            for part in re.split(r"[|;]", text):
                if len(part.split()) < 25:
                    found |= runs(part)
    return found


def test_no_run_of_four_words_stands_in_both():
    assert len(phrases_of(RULES)) > 1000
    assert phrases_of(RULES) & phrases_of(JUDGE) == set()


def test_the_judge_imports_nothing_of_the_rules_but_the_layout_of_prompts():
    imported = set()
    for path in JUDGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module)
    assert {name for name in imported if name.startswith("pipeline.offline.")} == FORMAT


def test_no_pattern_is_written_twice():
    def patterns(folder):
        return {
            node.value
            for path in folder.glob("*.py")
            if path.stem != "reading"
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "\\b" in node.value
        }

    assert patterns(RULES)
    assert patterns(RULES) & patterns(JUDGE) == set()
