"""The page on JSON shows what the commands print: the same keys, and values of the same kinds."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
STALE = "run: python docs/generate_json_shapes.py"
GENERATOR = runpy.run_path(str(DOCS / "generate_json_shapes.py"))
PAGE = dict(
    re.findall(
        r"```sh\n(hipo [^\n]*)\n```\n\n```json\n(.*?)\n```",
        (DOCS / "json-shapes.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
)


def shape(value: Any) -> Any:
    """Return keys and kinds; of a list, the shape of its first element."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return "number" if isinstance(value, int | float) else type(value).__name__


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("json"))
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            patch.delenv(name, raising=False)
        yield {shape.command: value for shape, value in GENERATOR["examples"]().items()}


def test_every_command_is_on_the_page() -> None:
    assert list(PAGE) == [shape.command for shape in GENERATOR["SHAPES"]], STALE


@pytest.mark.parametrize("command", PAGE)
def test_the_example_has_the_shape_of_what_is_printed(
    printed: dict[str, Any], command: str
) -> None:
    assert shape(json.loads(PAGE[command])) == shape(printed[command]), STALE
