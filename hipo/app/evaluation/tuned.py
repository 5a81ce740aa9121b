"""Ask a base model and what was tuned from it the same items, of scenarios that were not learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hipo.app.evaluation.evaluate import evaluate
from hipo.app.evaluation.settings import EvaluationSettings
from hipo.app.evaluation.source import load_items
from hipo.app.running.watching import Watcher
from hipo.app.train import TunedModel
from outputs.kinds.aspects import TASK_OF
from outputs.kinds.split_shares import SplitBy
from outputs.kinds.system_prompt import SHORT
from outputs.result_tables.documents import results_as_markdown
from outputs.result_tables.model import ResultBlock
from outputs.rows.label_rows import label_tasks
from outputs.training.adapter_card import CARD, adapter_card
from outputs.training.base_model import find_base, name_of
from outputs.training.training_set import TrainingSet
from outputs.training.tuning_results import RESULTS, check_unseen, tuning_results
from prompts.tasks.model import Task
from prompts.tasks.registry import load_task
from quality.evaluation.item import EvaluationItem
from scenarios.atomic_files import write_text
from scenarios.errors import RunError
from scenarios.text_file import typed_path
from scenarios.yaml_text import emitted

FOLDER, TASKS = "evaluation", "tasks"
DEFAULT_TASK = "hipo-utterance"
LONGEST_ANSWER = 256
"""Tokens: labels in JSON have fewer, and small models that lose the form never end."""


@dataclass(frozen=True, slots=True)
class TuningQuestion:
    """What base and tuned model are asked."""

    source: str
    """An exported set, or one of its files; a run; or ``gold``."""
    tasks: Sequence[str] = (DEFAULT_TASK,)
    n: int | None = None
    """Items per task, drawn evenly over classes; None: all."""
    allow_overlap: bool = False
    """Whether items may be of scenarios that were trained on."""
    full_prompt: bool = False
    """Whether labels are defined though the rows that were trained on defined none."""

    def check(self, rows: TrainingSet) -> int:
        """Return how many scenarios of the items were trained on; nothing is asked.

        Of a set that is divided by dialogue or fact those may be of scenarios that were trained on whose
        own dialogue or fact was not.

        Raises:
            UsageError: some were and must not be, or there are no such items or tasks.
        """
        items = load_items(self.source)
        for task in self.tasks:
            items.for_task(load_task(task, items.scheme))
        parts = [(item.scenario, _parts_of(item, rows.split_by)) for item in items.items]
        groups = (f"{scenario}/{part}" for scenario, some in parts for part in some)
        check_unseen(rows.groups_learnt, groups, allowed=self.allow_overlap, what=rows.split_by)
        whole = (scenario for scenario, some in parts if not some)
        check_unseen(rows.scenarios_learnt, whole, allowed=self.allow_overlap)
        return check_unseen(rows.scenarios_learnt, (name for name, _ in parts), allowed=True)


def _parts_of(item: EvaluationItem, by: SplitBy) -> tuple[str, ...]:
    """Return what of its scenario may not be in two splits; nothing where that is all of it, or unknown."""
    if by == "dialogue":
        return (item.case,)
    return item.facts if by == "fact" else ()


def task_as_trained(name: str, rows: TrainingSet) -> Task:
    """Return a task as the rows of a set ask it: without definitions, where these have none.

    Rows that teach something else than to label ask nothing: the task stays as it is.

    Raises:
        UsageError: there is no such task.
    """
    task = load_task(name)
    if rows.task != "label" or rows.defines_labels:
        return task
    aspects = [aspect for aspect, known in TASK_OF.items() if known == name]
    if aspects:
        (task,) = label_tasks(aspects, SHORT, goal_of_lines=rows.goal_of_lines).values()
    return task.model_copy(update={"definitions": False})


def tasks_as_trained(
    folder: Path, names: Sequence[str], rows: TrainingSet, *, full_prompt: bool = False
) -> tuple[str, ...]:
    """Return tasks for ``hipo evaluate``, as a set asks them; those that differ become files.

    Args:
        folder: of the training; files are written to ``tasks`` in it.
        names: of tasks, or their files.
        rows: the set that was trained on.
        full_prompt: whether they stay as they are named.
    """
    asked = []
    for name in names:
        task = load_task(name) if full_prompt else task_as_trained(name, rows)
        if task == load_task(name):
            asked.append(name)
            continue
        file = folder / TASKS / f"{task.id}.yaml"
        file.parent.mkdir(exist_ok=True)
        plain = task.model_dump(mode="json", exclude_defaults=True)
        write_text(file, "\n".join(emitted(plain)) + "\n")
        asked.append(str(file))
    return tuple(asked)


def model_names(tuned: TunedModel) -> tuple[str, str]:
    """Return what ``hipo evaluate`` calls the base and the tuned model."""
    return f"hf/{name_of(find_base(tuned.base))}", f"hf/{tuned.adapter.resolve()}"


def evaluate_tuned(
    tuned: TunedModel,
    question: TuningQuestion,
    rows: TrainingSet,
    *,
    watcher: Watcher | None = None,
) -> ResultBlock:
    """Ask both models, or go on asking, and write the table beside the adapter and into its card.

    Args:
        tuned: an adapter that is finished.
        question: what they are asked.
        rows: the set that was trained on.
        watcher: is told of every answer.

    Raises:
        UsageError: items were trained on, or something does not fit.
        RunError: not everything could be asked; the same again goes on.
    """
    overlap = question.check(rows)
    base, adapter = model_names(tuned)
    tasks = tasks_as_trained(tuned.folder, question.tasks, rows, full_prompt=question.full_prompt)
    done = evaluate(
        question.source,
        tasks=tasks,
        models=(base, adapter),
        output=tuned.folder / FOLDER,
        n=question.n,
        settings=EvaluationSettings(
            source=question.source,
            tasks=tasks,
            models=(base, adapter),
            max_tokens=LONGEST_ANSWER,
            keep_going=True,  # a base that never answers in form is a result, too
        ),
        watcher=watcher,
    )
    if done.written is None:
        error = RunError(f"not everything was asked: {done.outcome.stopped}")
        error.code = done.outcome.stop_code
        raise error
    block = tuning_results(
        done.written.evaluated,
        base,
        adapter,
        offline_rows=bool(tuned.summary.offline_rows),
        overlap=bool(overlap),
    )
    text = results_as_markdown([block])
    write_text(tuned.folder / RESULTS, text)
    card = adapter_card(tuned.record, tuned.found, tuned.summary, text)
    write_text(tuned.adapter / CARD, card)
    return block


def evaluation_command(tuned: TunedModel, rows: TrainingSet) -> str:
    """Return the command that asks both models as they were trained; a task file it names is written."""
    (task,) = tasks_as_trained(tuned.folder, (DEFAULT_TASK,), rows)
    models = " ".join(f"--model {typed_path(name)}" for name in model_names(tuned))
    folder = typed_path(tuned.folder / FOLDER)
    return f"hipo evaluate ITEMS/jsonl/test.jsonl --task {typed_path(task)} {models} -o {folder}"
