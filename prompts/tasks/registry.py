"""Find a task: a shipped one or a plugin's by its name, or any by its file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from prompts.tasks.asked import misfits
from prompts.tasks.model import Task
from scenarios.errors import InputError, UsageError
from scenarios.extensions import ExtensionPoint
from scenarios.located import Located
from scenarios.schemes.model import Scheme
from scenarios.yaml_source import read_yaml, validate_model

_SHIPPED: Final = Path(__file__).parent / "data"


def shipped_tasks(scheme: Scheme | None = None) -> tuple[str, ...]:
    """Return the names of the tasks that ship; no plugin is loaded.

    Args:
        scheme: only those that can be asked of it; None: all.
    """
    tasks = _tasks()
    if scheme is None:
        return tasks.shipped
    return tuple(name for name in tasks.shipped if not any(misfits(tasks.get(name), scheme)))


def load_task(name_or_path: str, scheme: Scheme | None = None) -> Task:
    """Return a task by its name, or from a path that ends in ``.yaml`` or ``.yml``.

    Args:
        name_or_path: e.g. ``hipo-utterance`` or ``tasks/mine.yaml``.
        scheme: what it is asked of; None: whether it fits is not looked at.

    Raises:
        UsageError: there is no such task, or it does not fit the scheme.
        InputError: the file is not a task, or its task does not fit the scheme.
    """
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        return _from_file(read_yaml(path), scheme)
    task = _tasks().find(name_or_path)
    if task is None:
        unknown = _tasks().unknown(name_or_path)
        raise UsageError(
            unknown.message, f"{unknown.hint}, or is a file: give its path (mine.yaml)"
        )
    if scheme is not None:
        _check_asked_of(task, scheme)
    return task


def _check_asked_of(task: Task, scheme: Scheme) -> None:
    """Raise where a task that its name was enough to find is for other schemes."""
    for misfit in misfits(task, scheme):
        raise UsageError(
            f"the task {task.id} is not for the scheme {scheme.name}: found {misfit.found}, expected"
            f" {misfit.expected}",
            f"tasks that are: {', '.join(shipped_tasks(scheme)) or 'none that ships'}",
        )


def _from_file(located: Located, scheme: Scheme | None) -> Task:
    task = validate_model(Task, located)
    if scheme is not None:
        problems = [
            located.problem(
                misfit.place,
                found=misfit.found,
                expected=misfit.expected,
                hint=misfit.hint,
                code="misfit",
            )
            for misfit in misfits(task, scheme)
        ]
        if problems:
            raise InputError(problems)
    return task


@cache
def _tasks() -> ExtensionPoint[Task]:
    files = sorted(_SHIPPED.glob("*.yaml"))
    return ExtensionPoint("task", Task, {p.stem: _from_file(read_yaml(p), None) for p in files})
