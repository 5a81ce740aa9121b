"""The names that docs/extending.md says are for plugins are there, and plugins need no other."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from typing import Any

import pytest

from outputs.formats.registry import FORMATS
from outputs.formats.shape import RowFormat
from outputs.kinds.export_kind import KINDS
from pipeline.critics.registry import CRITICS
from pipeline.providers.registry import PROVIDERS
from pipeline.strategies.registry import STRATEGIES
from pipeline.verifiers.registry import VERIFIERS
from quality.derived import DERIVED
from quality.gates.registry import GATES
from quality.judges.registry import JUDGES
from scenarios.extension_fields import wrong_fields
from scenarios.extensions import ExtensionPoint
from tests.extension.conftest import PACKAGE
from tests.extension.test_docs_page import FILES, PAGE

ROOMS = ("scenarios", "prompts", "pipeline", "quality", "outputs")
TABLE = PAGE.read_text().partition("<!-- public names -->")[2].partition("\n## ")[0]
PUBLIC = {
    module: set(re.findall(r"`(\w+)`", names))
    for module, names in re.findall(r"^\|[^|]*\| `([\w.]+)` \| (.*) \|$", TABLE, re.MULTILINE)
}
SHOWN = {**FILES, "extensions.py": (PACKAGE / "hipo_extras/extensions.py").read_text()}


@pytest.mark.parametrize("module", PUBLIC)
def test_a_public_name_can_be_imported(module: str) -> None:
    there = vars(import_module(module))
    assert PUBLIC[module] - {"build"} <= there.keys()


@pytest.mark.parametrize("file", SHOWN)
def test_the_examples_import_public_names_alone(file: str) -> None:
    imports = [
        node for node in ast.walk(ast.parse(SHOWN[file])) if isinstance(node, ast.ImportFrom)
    ]
    used = {
        (node.module, name.name)
        for node in imports
        if str(node.module).partition(".")[0] in ROOMS
        for name in node.names
    }
    assert used
    public = {(module, name) for module, names in PUBLIC.items() for name in names}
    assert used <= public


def test_there_are_public_names_for_every_room() -> None:
    assert {module.partition(".")[0] for module in PUBLIC} == set(ROOMS)
    assert len(PUBLIC) > 30


POINTS = (STRATEGIES, CRITICS, VERIFIERS, PROVIDERS, GATES, JUDGES, DERIVED, KINDS, FORMATS)


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
def test_what_ships_has_fields_of_the_types_that_plugins_are_held_to(
    point: ExtensionPoint[Any],
) -> None:
    for extension in map(point.get, point.shipped):
        kind = RowFormat if point is FORMATS else type(extension)
        assert list(wrong_fields(extension, kind)) == []
