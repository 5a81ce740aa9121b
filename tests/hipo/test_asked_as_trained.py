"""What was tuned is asked in the words that its rows had, so that a score is one of what it learnt."""

import pytest

from hipo.app.evaluation.tuned import tasks_as_trained
from outputs.kinds.system_prompt import SystemPrompt
from outputs.training.training_set import read_training_set
from prompts.environment import Templates
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.schemes.registry import load_scheme
from tests.outputs.corpora import exportable_run, exported

NAMES = ("hipo-utterance", "hipo-conversation")


@pytest.mark.parametrize("goal", [False, True])
def test_rows_with_the_short_prompt_are_followed_by_items_with_the_short_prompt(tmp_path, goal):
    run = exportable_run(tmp_path / "run", scenarios=3, facts=1)
    aspects = ("utterance", "conversation")
    exported(tmp_path / "set", run, "sft", aspects=aspects, goal_of_lines=goal, parquet=False)
    rows = read_training_set(tmp_path / "set")
    files = tasks_as_trained(tmp_path, NAMES, rows)
    learnt = {row.prompt[0]["content"] for row in rows.rows("train")}
    scheme = load_scheme("hipo")
    for file, name in zip(files, NAMES, strict=True):
        task = load_task(file, scheme)
        assert task.id == name
        assert ("goal" in task.asks) == (goal or name == "hipo-conversation")
        (part,) = TaskPrompts(Templates(), scheme, task).parts
        assert part.prompt.system in learnt
    assert tasks_as_trained(tmp_path, NAMES, rows, full_prompt=True) == NAMES


def test_rows_that_define_labels_or_teach_to_speak_leave_tasks_as_they_are(tmp_path):
    run = exportable_run(tmp_path / "run", scenarios=3, facts=1)
    full = exported(tmp_path / "full", run, "sft", prompt=SystemPrompt("full"), parquet=False)
    speaking = exported(tmp_path / "actor", run, "sft", task="actor", parquet=False)
    for made in (full, speaking):
        assert tasks_as_trained(tmp_path, NAMES, read_training_set(made.folder)) == NAMES
    assert not (tmp_path / "tasks").exists()
