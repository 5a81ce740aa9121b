"""One word, one meaning: the name of a class stands in one module of the product."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLASS = re.compile(r"^ *class (\w+)[:(\[]", re.MULTILINE)
ROOMS = ("scenarios", "prompts", "pipeline", "quality", "outputs", "hipo")


def test_no_class_name_stands_in_two_modules() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            for name in CLASS.findall(file.read_text("utf-8")):
                modules[name].append(str(file.relative_to(ROOT)))
    assert len(modules) > 1000
    assert {name: where for name, where in modules.items() if len(where) > 1} == {}
