"""What tables call models that are named by a path: nothing of where it lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.evaluation.tables import result_blocks
from outputs.evaluation.model_names import shown_names
from outputs.evaluation.writing import score_evaluation, write_evaluation
from outputs.result_tables.documents import results_as_csv, results_as_html, results_as_markdown
from outputs.result_tables.latex import results_as_latex
from quality.evaluation.evaluation_record import EvaluatedModel, read_record, write_record
from tests.outputs.evaluation.sample_evaluation import record, write_sample
from tests.outputs.evaluation.test_own_results import QUICK

HOME = "/home/zelda/models"


@pytest.mark.parametrize(
    ("models", "shown"),
    [
        ([f"hf/{HOME}/tiny"], ["hf/tiny"]),
        ([f"hf/{HOME}/tiny/"], ["hf/tiny"]),
        (["hf/../far/away/tiny.gguf"], ["hf/tiny.gguf"]),
        (["hf/~/tiny"], ["hf/tiny"]),
        ([f"hf/{HOME}/a/tiny", f"hf/{HOME}/b/tiny"], ["hf/a/tiny", "hf/b/tiny"]),
        (["hf/a/tiny", f"hf/{HOME}/a/tiny"], ["hf/a/tiny", "hf/models/a/tiny"]),
        (["hf//home/tuned/first/adapter", "hf//home/x/adapter"], ["hf/first/adapter", "hf/x/adapter"]),
        ([f"compatible/{HOME}/tiny"], ["compatible/tiny"]),
        (["hf/org/tiny@main", "openai/gpt", "people/p1"], ["hf/org/tiny@main", "openai/gpt", "people/p1"]),
    ],
)  # fmt: skip
def test_a_path_is_shown_by_as_much_of_its_end_as_tells_it_from_others(models, shown):
    names = shown_names(models)
    assert [names.get(model, model) for model in models] == shown


def test_no_table_and_no_page_tells_where_models_lie_and_the_files_of_figures_do(tmp_path: Path):
    models = (f"hf/{HOME}/tiny", f"hf/{HOME}/tuned/adapter", "lab/strong")
    made = record(models=models, generators=(f"hf/{HOME}/tiny",))
    folder = write_sample(tmp_path / "e", made)
    tuned = EvaluatedModel(name=models[1], base=f"{HOME}/tiny")
    write_record(
        folder, made.model_copy(update={"models": (made.models[0], tuned, made.models[2])})
    )
    written = write_evaluation(folder, "1", QUICK)
    blocks = result_blocks([folder])
    told = [written.page.read_text(), *(plot.read_text() for plot in written.plots)]
    told += [write(blocks) for write in (results_as_markdown, results_as_csv, results_as_html)]
    told.append(results_as_latex(blocks))
    assert not any("/zelda" in text for text in told)
    assert "hf/tiny" in told[0]
    assert not any("zelda" in plot.name for plot in written.plots)
    assert "zelda" in written.scores.read_text()
    assert [model.name for model in read_record(folder).models] == list(models)
    assert {score.model for score in score_evaluation(folder, QUICK).scores.scores} == set(models)
    tables = {table.id: table for block in blocks for table in block.tables}
    rows = tables["tuned-1-declared"].rows
    assert [(row.name, row.base) for row in rows] == [
        ("hf/tiny", ""), ("hf/tuned/adapter", "hf/tiny"),
    ]  # fmt: skip
