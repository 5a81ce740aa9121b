"""The task that docs/training.md shows asks as the rows of a set with the short prompt do."""

from __future__ import annotations

import re
from pathlib import Path

from outputs.label_rows import label_tasks
from outputs.system_prompt import SHORT
from prompts.tasks.registry import load_task

PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text("utf-8")


def test_the_task_of_the_page_asks_what_short_rows_ask(tmp_path):
    [shown] = re.findall(r"```yaml\n(id: .*?)```", PAGE, re.DOTALL)
    (tmp_path / "short.yaml").write_text(shown)
    own, learnt = load_task(str(tmp_path / "short.yaml")), label_tasks(["utterance"], SHORT)
    names = {"id": own.id, "title": own.title, "about": own.about}
    assert learnt["utterance"].model_copy(update=names) == own
