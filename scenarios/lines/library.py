"""Load the authored lines that ship, by scenario."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from scenarios.lines.model import ExemplarLines, FlowLines, GoldLines, LineUse, StageLines
from scenarios.spec import Scenario, with_names
from scenarios.strict import Strict
from scenarios.yaml_source import read_yaml, validate_model

FOLDER = Path(__file__).parent
M = TypeVar("M", bound=Strict)


def lines_file(use: LineUse, scenario_id: str) -> Path:
    """Return where the lines of a scenario for one use stand, whether there are any or not."""
    return FOLDER / use / f"{scenario_id}.yaml"


def scenarios_with(use: LineUse) -> tuple[str, ...]:
    """Return the ids of the scenarios that have lines for one use, sorted."""
    return tuple(sorted(path.stem for path in (FOLDER / use).glob("*.yaml")))


def _read(model: type[M], use: LineUse, scenario_id: str) -> M | None:
    path = lines_file(use, scenario_id)
    return validate_model(model, read_yaml(path)) if path.is_file() else None


@cache
def _stage(scenario_id: str) -> StageLines | FlowLines | None:
    """Return the stage lines of a scenario, of whichever kind; the file says which by its keys."""
    path = lines_file("stage", scenario_id)
    if not path.is_file():
        return None
    source = read_yaml(path)
    if isinstance(source.data, Mapping) and "flow" in source.data:
        return validate_model(FlowLines, source)
    return validate_model(StageLines, source)


def stage_lines(scenario_id: str) -> StageLines | None:
    """Return what the offline actors say first in a scenario; None where nothing is written.

    Raises:
        InputError: the file is broken.
    """
    lines = _stage(scenario_id)
    return lines if isinstance(lines, StageLines) else None


def flow_lines(scenario_id: str) -> FlowLines | None:
    """Return what the offline actors say in a scenario with a flow; None where nothing is written.

    Raises:
        InputError: the file is broken.
    """
    lines = _stage(scenario_id)
    return lines if isinstance(lines, FlowLines) else None


def spoken_stage_lines(template: Scenario) -> StageLines | None:
    """Return the stage lines of a scenario as they are said, with the fictional names filled in.

    They are never said with real names: what people in them admit or deny is invented.

    Args:
        template: the scenario as it is written, with its placeholders.

    Raises:
        InputError: the file is broken.
    """
    lines = stage_lines(template.id)
    return None if lines is None else _with_aliases(StageLines, lines, template)


def spoken_flow_lines(template: Scenario) -> FlowLines | None:
    """Return the lines of a scenario with a flow as they are said, with the fictional names.

    Args:
        template: the scenario as it is written, with its placeholders.

    Raises:
        InputError: the file is broken.
    """
    lines = flow_lines(template.id)
    return None if lines is None else _with_aliases(FlowLines, lines, template)


def _with_aliases(model: type[M], lines: M, template: Scenario) -> M:
    if not template.placeholders:
        return lines
    aliases = {key: placeholder.alias for key, placeholder in template.placeholders.items()}
    return model.model_validate(with_names(lines.model_dump(), aliases))


@cache
def exemplar_lines(scenario_id: str) -> ExemplarLines | None:
    """Return the examples of a scenario; None where there are none.

    Raises:
        InputError: the file is broken.
    """
    return _read(ExemplarLines, "exemplar", scenario_id)


@cache
def gold_lines(scenario_id: str) -> GoldLines | None:
    """Return the gold lines of a scenario; None where there are none.

    Nothing that generates, prompts, exports or tunes may import this: see the test of that name.

    Raises:
        InputError: the file is broken.
    """
    return _read(GoldLines, "gold", scenario_id)
