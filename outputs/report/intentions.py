"""Report section: what speakers do with face acts, their intentions, and runs of turns with one."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase

from outputs.report.page import Block, Remark, ReportSection, Table
from outputs.report.wording import count, part, percent, ratio
from quality.evaluation.scores import PositionShare
from quality.persuasion.intention_figures import BOTH
from quality.persuasion.intention_statistics import IntentionStatistics
from scenarios.plural import plural

_LEAD = (
    "What each side does to its own face and the other's, by the labels that count: an expert's, else "
    "those that people agree on, else judges', else the speaker's. Turns of one speaker in a row with "
    "one intention are one run."
)


def intentions_section(
    statistics: IntentionStatistics,
    right: tuple[PositionShare, ...],
    rules: Mapping[str, int],
    questions: int,
    run: str,
) -> ReportSection:
    """Return face acts, intentions and runs by speaker, and the questions that they make.

    Args:
        statistics: of the dialogues of the run.
        right: how often each place among the options of the questions is right.
        rules: how many options break each rule of the task.
        questions: how many there are.
        run: what the run is called on the command line.
    """
    blocks: list[Block] = [_face_acts(statistics)]
    if statistics.annotators:
        agreeing = f"Intentions by {plural(statistics.annotators, 'person')}"
        if statistics.annotators > 1:
            agreeing = f"Intentions by {statistics.annotators} people"
        agreeing += f"; mean alpha {ratio(statistics.mean_alpha)} over speakers and face acts."
        blocks.append(Remark(agreeing))
    if not any(row.labelled for row in statistics.rows):
        blocks.append(
            Remark(
                "No intention is known yet. To let people give them:", f"hipo review serve {run}"
            )
        )
    if questions:
        header = (
            f"of {plural(questions, 'question')}",
            *(ascii_uppercase[s.position] for s in right),
        )
        row = ("right", *(percent(share.references) for share in right))
        blocks.append(Table("Where the right option stands", header, (row,)))
        broken = ", ".join(f"{rule} {number:,}" for rule, number in rules.items() if number)
        if broken:
            blocks.append(Remark(f"Options that break a rule: {broken}.", tone="warning"))
    blocks.append(Remark("All of it, and each option:", f"hipo metrics intention {run} --json -"))
    return ReportSection("intentions", "Face acts and intentions", _LEAD, tuple(blocks))


def _face_acts(statistics: IntentionStatistics) -> Table:
    shown = [row for row in statistics.rows if row.role != BOTH or row.face_act == BOTH]
    has_alpha = any(row.alpha is not None for row in shown)
    rows = tuple(
        (
            row.face_act or "all",
            row.role or "both",
            count(row.turns),
            part(row.labelled, row.turns),
            count(row.runs),
            *([ratio(row.alpha)] if has_alpha else []),
        )
        for row in shown
    )
    header = ("face act", "speaker", "turns", "with an intention", "runs")
    caption = f"Face acts by speaker, in {plural(statistics.dialogues, 'dialogue')}"
    return Table(caption, (*header, "alpha") if has_alpha else header, rows)
