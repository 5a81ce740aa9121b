"""The page about an evaluation."""

from __future__ import annotations

from outputs.evaluation.ahead import comparisons_section, modes_section
from outputs.evaluation.asked import cost_section, overview_section
from outputs.evaluation.before_after import before_and_after
from outputs.evaluation.breakdowns import breakdowns_section, intervals_section
from outputs.evaluation.classes import classes_section
from outputs.evaluation.evaluated import Evaluated
from outputs.evaluation.leaderboard import leaderboard_blocks, mark_remarks, reference_remark
from outputs.evaluation.replies import replies_section
from outputs.evaluation.shown_examples import examples_section
from outputs.evaluation.swaps import swaps_section
from outputs.evaluation.unfolding import unfolding_section
from outputs.report.page import Page, Remark, ReportSection
from outputs.result_tables.sections import result_sections

OFFLINE = (
    "Dialogues of this set were written by built-in rules. Figures on it show that everything "
    "works; they say nothing about language models."
)
_CANARY = "Items of this page are for measuring alone; nobody may learn from them. Canary: "
_LEAD = (
    "Accuracy, macro-F1 and the distance to always giving the commonest label, with 95% intervals "
    "over cases. A figure means something only beside the two floors, which need no reading."
)


def evaluation_page(evaluated: Evaluated, version: str) -> Page:
    """Return the page about an evaluation as plain data."""
    record = evaluated.record
    swaps, modes = swaps_section(evaluated), modes_section(evaluated)
    return Page(
        title=f"{record.set.name}: models on labelled dialogues",
        subtitle=f"Figures of {record.name} · scheme {record.set.scheme}",
        notices=(
            *([Remark(OFFLINE, tone="warning")] if record.set.offline else []),
            *([Remark(_CANARY + record.set.canary)] if record.set.canary else []),
            *mark_remarks(evaluated),
        ),
        sections=(
            overview_section(evaluated),
            *score_sections(evaluated),
            *([] if swaps is None else [swaps]),
            *result_sections(before_and_after([evaluated], "before-after")),
            comparisons_section(evaluated),
            *([] if modes is None else [modes]),
            classes_section(evaluated),
            unfolding_section(evaluated),
            breakdowns_section(evaluated),
            intervals_section(evaluated),
            replies_section(evaluated),
            cost_section(evaluated),
            examples_section(evaluated),
        ),
        footer=(
            f"Made by hipo {version} from results.jsonl; this page loads nothing.",
            "Every figure is in scores.json, every picture in plots/.",
        ),
    )


def score_sections(evaluated: Evaluated) -> list[ReportSection]:
    """Return one section of scores for each task."""
    sections: list[ReportSection] = []
    for task in evaluated.tasks:
        if evaluated.is_scored(task.id):
            blocks = leaderboard_blocks(evaluated, task.id)
            lead = f"Seen of what was said before: {task.history}." if task.history else ""
            if not sections:
                lead = f"{_LEAD} {lead}".strip()
                blocks = [reference_remark(evaluated), *blocks]
            name = f"scores-{len(sections) + 1}"
            sections.append(ReportSection(name, f"Scores: {task.title}", lead, tuple(blocks)))
    return sections
