"""Report section: what models made of the dialogues of the run, in evaluations beside it."""

from __future__ import annotations

from collections.abc import Sequence

from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.leaderboard import leaderboard_blocks, mark_remarks, reference_remark
from outputs.report.page import Block, Fold, Remark, ReportSection

_LEAD = (
    "What models answer when they are asked for the labels, beside the two floors that need no "
    "reading. Intervals: 95%, over cases. The page of an evaluation has every label, part and reply."
)


def evaluation_section(evaluations: Sequence[Evaluated], run: str) -> ReportSection:
    """Return the scores of evaluations of a run, or how to get there.

    Args:
        evaluations: of the run, or of what was exported from it.
        run: what the run is called on the command line.
    """
    title = "Evaluation"
    if not evaluations:
        note = Remark(
            "No evaluation lies beside this run. Models are evaluated with",
            f"hipo evaluate {run} --task TASK --model PROVIDER/NAME -o {run}/evaluation",
        )
        return ReportSection("evaluation", title, _LEAD, (note,), absent=True)
    blocks: list[Block] = [reference_remark(*evaluations)]
    for one in evaluations:
        blocks += mark_remarks(one)
        for task in one.tasks:
            if one.is_scored(task.id):
                several = len(evaluations) > 1
                title_of = f"{one.record.name}: {task.title}" if several else task.title
                folded = tuple(leaderboard_blocks(one, task.id))
                blocks.append(Fold(title_of, folded, unfolded=True))
    return ReportSection("evaluation", title, _LEAD, tuple(blocks))
