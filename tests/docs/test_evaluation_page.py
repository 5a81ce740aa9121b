"""The task and the examples on the page about evaluation are read as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prompts.environment import Templates
from prompts.tasks.example_file import ExampleRow, read_examples
from prompts.tasks.items import SceneView, TaskItem
from prompts.tasks.model import Options, Sees, Task
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task, shipped_tasks
from scenarios.schemes.registry import load_scheme

PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text()
FILES = dict(re.findall(r"```yaml\n# (\w+\.yaml)\n(.*?)```", PAGE, re.DOTALL))
HIPO = load_scheme("hipo")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, source in FILES.items():
        Path(name).write_text(source)


def test_the_task_of_the_page_asks_what_the_page_says() -> None:
    task = load_task("veracity_given_goal.yaml", HIPO)
    prompts = TaskPrompts(Templates(), HIPO, task)
    scene = SceneView("Two talk.", "a", "A.", "b", "B.", "en (English)")
    said = tuple((("initiator", "responder")[n % 2], f"line {n}") for n in range(8))
    asked = prompts.questions(TaskItem("item", scene, said, 7, 6, goal="deception"))
    assert [one.dimensions for one in asked] == [("veracity",), ("intention",)]
    for one in asked:
        system, user = (message.content for message in one.question.messages)
        assert re.findall(r"line \d", user) == ["line 3", "line 4", "line 5", "line 6", "line 7"]
        assert "Goal: deception" in user
        assert "A joke that both take for one is not false." in system


def test_the_examples_of_the_page_are_read() -> None:
    (example,) = read_examples(Path("my_examples.yaml"), HIPO).examples
    assert set(ExampleRow.model_fields) == set(
        re.findall(r"^[- ] (\w+):", FILES["my_examples.yaml"], re.MULTILINE)
    )
    assert example.labels["veracity"] == "Quality"


def test_every_field_of_a_task_is_explained() -> None:
    table = PAGE.partition("## Write a task of your own")[2].partition("\n## ")[0]
    cells = " ".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE))
    named = set(re.findall(r"`([\w: ]+)`", cells))
    assert named == {
        *(set(Task.model_fields) - {"sees"}), *(f"sees: {name}" for name in Sees.model_fields),
    }  # fmt: skip
    assert all(f"`{name}`" in table for name in Options.model_fields)


def test_every_benchmark_task_that_ships_stands_in_the_table() -> None:
    for name in shipped_tasks():
        assert f"`{name}`" in PAGE, name
