"""Read worked examples of the user's from a YAML or JSONL file."""

from __future__ import annotations

from pathlib import Path

import orjson
from pydantic import Field

from prompts.tasks.examples import ExamplePool, WorkedExample
from prompts.tasks.items import FactView
from scenarios.errors import InputError, Problem
from scenarios.fixed_lines import Text
from scenarios.located import Located, Step, shortened
from scenarios.schemes.model import Scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.strict import Strict
from scenarios.terms import LabelValue
from scenarios.text_file import read_text, shown_path
from scenarios.yaml_source import read_yaml, validate_model


class ExampleRow(Strict):
    """One example as a file has it."""

    scene: Text
    """The situation that both people know."""
    question: str = ""
    line: Text
    labels: dict[str, LabelValue] = Field(min_length=1)
    scenario: str = ""
    fact: Text | None = None


def read_examples(path: Path, scheme: Scheme) -> ExamplePool:
    """Return the examples of a file: a YAML list, or JSON Lines with one example in each line.

    Raises:
        InputError: the file cannot be read, or something in it is no example of the scheme; every
            problem with its line.
    """
    name = shown_path(path)
    rows = _json_lines(path, name) if path.suffix in (".jsonl", ".ndjson") else _yaml_list(path)
    if not rows:
        problem = Problem(name, None, "", "no examples", "one example at least", code="examples")
        raise InputError([problem])
    problems: list[Problem] = []
    examples: list[WorkedExample] = []
    for number, located in enumerate(rows, start=1):
        try:
            examples.append(_example(located, f"{path.name} {number}", scheme))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return ExamplePool(tuple(examples), name)


def _example(located: Located, example_id: str, scheme: Scheme) -> WorkedExample:
    row = validate_model(ExampleRow, located)
    by_id = {dimension.id: dimension for dimension in scheme.dimensions}
    labels: dict[str, LabelValue] = {}
    problems: list[Problem] = []
    for name, value in row.labels.items():
        dimension = by_id.get(name)
        resolved = None if dimension is None else resolve_label(dimension, value)
        if resolved is not None:
            labels[name] = resolved[0]
        elif dimension is None:
            problems.append(
                located.problem(
                    ("labels", name),
                    found=f"the dimension {shortened(name)}",
                    expected=f"one of the scheme {scheme.name}: {', '.join(by_id)}",
                    code="unknown-dimension",
                )
            )
        else:
            options = " | ".join(dimension.values) or "a number in its range"
            problems.append(
                located.problem(
                    ("labels", name), found=shortened(value), expected=options, code="unknown-label"
                )
            )
    if problems:
        raise InputError(problems)
    fact = None if row.fact is None else FactView("", row.fact)
    return WorkedExample(example_id, row.scenario, row.scene, row.question, row.line, labels, fact)


def _yaml_list(path: Path) -> list[Located]:
    located = read_yaml(path)
    if not isinstance(located.data, list):
        raise InputError(
            [
                located.problem(
                    (),
                    found=shortened(located.data),
                    expected="a list of examples",
                    hint="begin each with a dash: - scene: ...",
                    code="examples",
                )
            ]
        )
    by_row: list[dict[tuple[Step, ...], int]] = [{} for _ in located.data]
    for place, line in located.lines.items():
        if place and isinstance(place[0], int):
            by_row[place[0]][place[1:]] = line
    return [
        Located(data=row, file=located.file, lines=lines)
        for row, lines in zip(located.data, by_row, strict=True)
    ]


def _json_lines(path: Path, name: str) -> list[Located]:
    rows: list[Located] = []
    problems: list[Problem] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(Located(data=orjson.loads(line), file=name, lines={(): number}))
        except orjson.JSONDecodeError as error:
            found = f"broken JSON ({error.msg})"
            problems.append(Problem(name, number, "", found, "a JSON object", code="json"))
    if problems:
        raise InputError(problems)
    return rows
