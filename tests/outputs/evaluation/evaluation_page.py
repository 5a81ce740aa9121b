"""An evaluation made by hand, and the tables of the page about one."""

from __future__ import annotations

from quality.evaluation.evaluation_record import write_record
from quality.evaluation.result_row import RESULTS
from quality.evaluation.shown_items import ITEMS
from quality.statistics.bootstrap import Resampling
from tests.outputs.evaluation.sample_evaluation import UTTERANCE, record, rows
from tests.outputs.html_tree import XHTML, words_of

QUICK = Resampling(resamples=50, seed=1)


def table(tree, caption):
    """Return the rows of the first table of a caption by their first cell, the header under ''."""
    for found in tree.iter(f"{XHTML}table"):
        if words_of(found.find(f"{XHTML}caption")) == caption:
            head = [[words_of(cell) for cell in row] for row in found.find(f"{XHTML}thead")]
            body = [[words_of(cell) for cell in row] for row in found.find(f"{XHTML}tbody")]
            return {"": head[-1], **{row[0]: row[1:] for row in body}}
    raise AssertionError(f"no table {caption!r}")


def hand_made(tmp_path, given, right, **fields):
    """Write an evaluation of one model whose answers and right labels are listed."""
    one = record(
        (UTTERANCE.model_copy(update={"dimensions": ("intention",)}),), ["lab/m"], **fields
    )
    template = next(rows(one))
    folder = tmp_path / "hand"
    folder.mkdir()
    write_record(folder, one)
    with (folder / RESULTS).open("wb") as file:
        for number, (said, label) in enumerate(zip(given, right, strict=True)):
            row = template.model_copy(
                update={
                    "item": f"c{number}/a/4/utterance",
                    "case": f"c{number}",
                    "labels": {"intention": said},
                    "faults": {} if said else {"intention": "unreadable"},
                    "references": {"declared": {"intention": label}},
                    "right": {"declared": {"intention": said == label}},
                }
            )
            file.write(row.to_line())
    (folder / ITEMS).write_text("")
    return folder
