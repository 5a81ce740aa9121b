"""Report sections: dialogues to read, and dialogues with the worst flags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from outputs.plots.bars import Bar, BarRow, bar_chart
from outputs.report.gathered import Gathered, ReportedDialogue
from outputs.report.judged import unverified
from outputs.report.page import (
    Block,
    Grid,
    Line,
    Mark,
    Plot,
    Remark,
    ReportSection,
    Table,
    TraceStep,
    Transcript,
)
from outputs.report.wording import count, dimension_title, label
from scenarios.dialogue import Trace, Turn
from scenarios.plural import enumerated, plural
from scenarios.verdicts import VERDICTS, Flag

_MOST_CODES = 14


def showcase_section(run: Gathered) -> ReportSection:
    """Return one dialogue of each strategy, with how its answers came to be."""
    lead = (
        "One of each strategy, with what was drafted, criticised or voted on before it was said."
        f"{_who_knows(run.showcase)}"
    )
    shown = [_transcript(run, exhibit, unfolded=True, traced=True) for exhibit in run.showcase]
    none = Remark("No dialogue has been generated yet.")
    title = f"{plural(len(shown), 'dialogue')} to begin with" if shown else "Dialogues"
    return ReportSection("showcase", title, lead, tuple(shown) or (none,))


def samples_section(run: Gathered) -> ReportSection:
    """Return dialogues that differ as far as possible."""
    lead = (
        "Chosen to differ in scenario, category, arm, goal and length."
        f"{_who_knows(run.samples)} The reasons for a label are the generator's own."
    )
    blocks = tuple(_transcript(run, exhibit) for exhibit in run.samples)
    none = Remark("There are no more dialogues.")
    return ReportSection("samples", "More dialogues to read", lead, blocks or (none,))


def flags_section(run: Gathered) -> ReportSection:
    """Return which flags were raised, and the dialogues with most of them."""
    title, lead = "Flags", "What judges and rules objected to, and the dialogues with most flags."
    if not run.flagged:
        note = Remark("Nothing was flagged.") if run.verified else unverified(run)
        return ReportSection("flags", title, lead, (note,), absent=True)
    codes = Counter[str]()
    verdicts = Counter[tuple[str, str]]()
    goals = Counter[tuple[str, str]]()
    for flagged in run.flagged:
        codes[flagged.code] += flagged.n
        verdicts[flagged.code, flagged.verdict or "undecided"] += flagged.n
        goals[flagged.code, flagged.goal] += flagged.n
    named = sorted({goal for _, goal in goals})
    names = [*VERDICTS, "undecided"]
    rows = [BarRow(code, (Bar(float(n), count(n)),)) for code, n in codes.most_common(_MOST_CODES)]
    table = Table(
        "Dialogues with each flag, by verdict and goal",
        ("flag", "dialogues", *names, *named),
        tuple(
            (
                code,
                count(n),
                *(count(verdicts[code, name]) for name in names),
                *(count(goals[code, goal]) for goal in named),
            )
            for code, n in codes.most_common()
        ),
    )
    said = ", ".join(f"{row.label} {row.bars[0].text}" for row in rows)
    drawn = bar_chart(rows, label=f"Dialogues by flag: {said}", colour=5)
    blocks: list[Block] = [Grid((Plot("Dialogues by flag", drawn), table))]
    blocks += [_transcript(run, exhibit) for exhibit in run.worst]
    return ReportSection("flags", title, lead, tuple(blocks))


def _has_flow(exhibit: ReportedDialogue) -> bool:
    return exhibit.scenario is not None and bool(exhibit.scenario.flow)


def _who_knows(exhibits: Sequence[ReportedDialogue]) -> str:
    if not exhibits:
        return ""
    if any(_has_flow(exhibit) for exhibit in exhibits):
        return " A private fact is known to those alone whose names stand before it."
    return " The private fact is known to the responder alone."


def _transcript(
    run: Gathered, exhibit: ReportedDialogue, *, unfolded: bool = False, traced: bool = False
) -> Transcript:
    sample, scenario = exhibit.sample, exhibit.scenario
    tags = [
        *filter(None, [sample.goal]),
        run.arms[sample.arm],
        plural(sample.turns, "labelled turn" if _has_flow(exhibit) else "exchange"),
        sample.verdict or "no verdict yet",
    ]
    if exhibit.flags:
        tags.append(plural(len(exhibit.flags), "flag"))
    facts: tuple[str, ...] = ()
    if scenario is not None:
        facts = tuple(
            f"{enumerated(scenario.knowers_named(f))}: {f.text}" if scenario.flow else f.text
            for f in scenario.facts
            if scenario.flow or f.id == exhibit.dialogue.case.fact
        )
    return Transcript(
        id=sample.id,
        title=sample.scenario if scenario is None else scenario.title,
        tags=tuple(tags),
        background="" if scenario is None else scenario.background,
        facts=facts,
        lines=tuple(_line(run, exhibit, turn, traced=traced) for turn in exhibit.dialogue.turns),
        flags=_shown([flag for flag in exhibit.flags if flag.turn is None]),
        language=exhibit.dialogue.case.language,
        unfolded=unfolded,
    )


def _line(run: Gathered, exhibit: ReportedDialogue, turn: Turn, *, traced: bool) -> Line:
    scenario, seats = exhibit.scenario, run.seats
    speaker = turn.role if scenario is None else scenario.roles[turn.role].name
    wanted = dict(turn.wanted)
    marks = []
    for tactic in turn.tactic:
        declared = label(tactic.value)
        asked = wanted.get(tactic.dimension, declared)
        marks.append(
            Mark(
                dimension_title(run.scheme, tactic.dimension),
                declared,
                tactic.rationale,
                asked if asked != declared else "",
                tuple(
                    (f"{j.source if 'self' in seats else seats[j.source]} {j.judge}", j.carried)
                    for j in exhibit.judgements
                    if (j.turn, j.dimension) == (turn.index, tactic.dimension)
                    and j.source in seats
                    and j.carried is not None
                ),
            )
        )
    trace = turn.trace if traced else None
    return Line(
        side=turn.role,
        speaker=speaker,
        text=turn.text,
        opening=turn.kind == "opening",
        marks=tuple(marks),
        flags=_shown([flag for flag in exhibit.flags if flag.turn == turn.index]),
        trace=() if trace is None else tuple(_steps(trace)),
        notes=() if trace is None else trace.notes,
    )


def _steps(trace: Trace) -> Iterator[TraceStep]:
    """Yield the candidates with their scores, or the attempts with what was found wrong."""
    for number, candidate in enumerate(trace.candidates):  # from 0, as notes count them
        score = "" if candidate.score is None else f", likeness {candidate.score:.3f}"
        text = candidate.error or "" if candidate.draft is None else candidate.draft.text
        yield TraceStep(f"candidate {number}{score}", text, number == trace.chosen)
    for number, attempt in enumerate(trace.attempts):
        wrong = [f"{c.dimension}: {c.reason}" for c in attempt.critiques if not c.carried]
        if attempt.critiques and not wrong:
            wrong = ["nothing was found wrong with it"]
        what = f"revision {number}" if number else "draft"
        yield TraceStep(what, attempt.draft.text, number == trace.chosen, tuple(wrong))


def _shown(flags: Sequence[Flag]) -> tuple[str, ...]:
    return tuple(f"{flag.code}: {flag.reason}" for flag in flags)
