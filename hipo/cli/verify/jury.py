"""The jurors of ``hipo verify``: asked, and what they said."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from hipo.app.options.verification import VerificationOverrides
from hipo.app.running.watching import Watcher
from hipo.app.verification.jury import hear_jurors
from hipo.app.verification.jury_request import JuryRequest
from hipo.app.verification.verify import Verified, check_judging
from hipo.cli.reports.run import so_far, spending_as_json
from hipo.cli.terminal.console import Format, others_apart, reasons, write_json
from hipo.cli.terminal.errors import ended
from pipeline.store.queries.annotations import open_annotations
from prompts.scheme_text import label_text
from quality.strategic.moves import STORED_COMMITMENT
from scenarios.plural import plural
from scenarios.text_file import typed_path

JuryLabels = Mapping[str, Mapping[str, Mapping[str, int]]]
"""How often: juror -> dimension -> label; an empty label could not be read."""


def run_jury(
    folder: Path,
    request: JuryRequest,
    overrides: VerificationOverrides,
    *,
    retry_unreadable: bool,
    output_format: Format,
    quiet: bool,
    watching: Watcher,
) -> int:
    """Let jurors label a run, say what they said unless judges follow, and return the exit code.

    Raises:
        StoppedEarly: it ended early, e.g. interrupted; it can be continued.
        UsageError: a juror is not fit, or a judge who is asked afterwards.
    """
    with others_apart():
        if overrides.judges:
            asyncio.run(check_judging(folder, overrides))
        done = asyncio.run(
            hear_jurors(
                folder, request, overrides, retry_unreadable=retry_unreadable, watcher=watching
            )
        )
    if not overrides.judges:  # otherwise what they say is printed
        labels = jury_labels(folder)
        if output_format == "json":
            write_json(jury_as_json(done, labels))
        elif not quiet:
            print(jury_as_text(done, labels))
    outcome = done.outcome
    return ended(outcome, failed=outcome.failed, folder=folder)


def jury_labels(folder: Path) -> JuryLabels:
    """Count what the jurors of a run said."""
    counted: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    with open_annotations(folder) as reader:
        for one in reader.annotations(["juror"]):
            label = "" if one.value is None else label_text(one.value)
            counted[one.who][one.dimension][label] += 1
    return counted


def jury_as_json(done: Verified, labels: JuryLabels) -> dict[str, object]:
    """Return what ``hipo verify --juror MODEL --format json`` prints.

    ``folder``; ``labelled``: dialogues that jurors have just labelled, each counted once a juror;
    ``failed``: count by reason code; ``stopped``: why it ended early, or None; ``calls``: requests
    just sent; ``cost_usd``, ``unpriced_calls`` and ``charged``: over the life of the run, as in
    ``hipo runs show``; ``labels``: by juror and dimension how often which label; what could not be read
    stands under "".
    """
    outcome = done.outcome
    return {
        "folder": str(done.folder),
        "labelled": outcome.done,
        "failed": dict(outcome.failed),
        "stopped": outcome.stopped,
        "calls": done.calls,
        **spending_as_json(done.state),
        "labels": {
            juror: {dimension: dict(counts) for dimension, counts in by_dimension.items()}
            for juror, by_dimension in labels.items()
        },
    }


def jury_as_text(done: Verified, labels: JuryLabels) -> str:
    """Return what jurors said the way ``hipo verify --juror`` prints it."""
    outcome = done.outcome
    lines = [f"{plural(outcome.done, 'dialogue')} labelled by jurors, {plural(done.calls, 'call')}"]
    if outcome.failed:
        lines.append(f"failed: {reasons(outcome.failed)}")
    for juror, by_dimension in labels.items():
        lines += ["", f"{juror}:"]
        for dimension, counts in by_dimension.items():
            ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            said = ", ".join(f"{label or 'unreadable'} {count:,}" for label, count in ranked)
            lines.append(f"  {dimension}: {said}")
    run = typed_path(done.folder)
    compared = []
    if any(name in STORED_COMMITMENT for of_juror in labels.values() for name in of_juror):
        compared.append(f"hipo metrics strategic {run}")
    if len(labels) > 1:
        compared.append(f"hipo agreement {run} --of juror")
    told = ", or ".join(compared) or "the labels of another --juror"
    lines += ["", so_far(done.state), f"compare them with: {told}"]
    return "\n".join(lines)
