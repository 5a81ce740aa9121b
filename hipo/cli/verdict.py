"""``hipo verdict``: why a dialogue has the verdict it has, and how an expert overrules it."""

from __future__ import annotations

import typer

from hipo.app.runs.run import VerdictRecord, open_run
from hipo.cli.main import RUN, command_app
from hipo.cli.terminal.console import Format, columns, plain, write_json
from hipo.cli.terminal.errors import ExitCode
from prompts.scheme_text import label_text
from scenarios.errors import UsageError
from scenarios.verdicts import Verdict

app = command_app()


@app.command("verdict")
def verdict(
    *,
    run: str = RUN,
    dialogue: str = typer.Argument(
        ...,
        metavar="ID",
        help="A dialogue's id or its beginning, or what an imported one is called in its file.",
    ),
    decided: Verdict | None = typer.Argument(
        None, metavar="[VERDICT]", help="accepted, discarded or pending; overrules what was."
    ),
    note: str = typer.Option("", "--note", help="Why; needed to overrule, and kept."),
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> int:
    """Show what judges said about a dialogue, its flags and decisions, or overrule them.

    Nothing is deleted: an expert's verdict is one more decision, which no policy overrules.
    """
    if note and decided is None:
        raise UsageError(
            "--note says why a verdict is overruled, and none is given",
            "name it after the id: accepted, discarded or pending",
        )
    opened = open_run(run)
    record = opened.decide(dialogue, decided, note) if decided else opened.verdict(dialogue)
    if output_format == "json":
        write_json(verdict_as_json(record))
    else:
        print(_as_text(record))
    return ExitCode.DONE


def verdict_as_json(record: VerdictRecord) -> dict[str, object]:
    """Return what ``hipo verdict --format json`` prints.

    ``id``; ``judgements``: a list of objects with ``turn`` (None: the whole dialogue), ``source``,
    ``judge``, ``dimension``, ``value``, ``carried`` and ``reason``; ``flags``: ``turn``, ``code``,
    ``reason``, ``severity``; ``decisions``: ``verdict``, ``by``, ``reason``, ``note``, oldest first.
    """
    judged = "turn source judge dimension value carried reason"
    return {
        "id": record.ending.id,
        "judgements": [plain(judgement, judged) for judgement in record.judgements],
        "flags": [plain(flag, "turn code reason severity") for flag in record.flags],
        "decisions": [plain(d, "verdict by reason note") for d in record.decisions],
    }


def _as_text(record: VerdictRecord) -> str:
    lines = [f"{record.ending.id}: {record.verdict or 'not decided yet'}", ""]
    rows = [
        [_turn(j.turn), j.source, j.judge, j.dimension,
         "" if j.value is None else label_text(j.value), _yes_or_no(j.carried)]
        for j in record.judgements
    ]  # fmt: skip
    if rows:
        header = ["turn", "", "judge", "dimension", "label", "carried"]
        lines += [columns(header, rows), ""]
    for flag in record.flags:
        lines.append(f"flag {flag.code}, {_turn(flag.turn)}: {flag.reason}")
    for decision in record.decisions:
        note = f" ({decision.note})" if decision.note else ""
        lines.append(f"{decision.verdict} by {decision.by}: {decision.reason}{note}")
    return "\n".join(lines)


def _turn(turn: int | None) -> str:
    return "dialogue" if turn is None else f"turn {turn}"


def _yes_or_no(carried: bool | None) -> str:
    return {True: "yes", False: "no", None: "-"}[carried]
