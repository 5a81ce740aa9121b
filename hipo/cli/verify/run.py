"""What ``hipo verify`` does once its options are read, as a command and within others."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from hipo.app.estimates.batches import labelling_batches
from hipo.app.estimates.judging import estimate_judging
from hipo.app.estimates.judging_estimate import JudgingEstimate
from hipo.app.models.resolution import ModelUse
from hipo.app.options.unused import check_some_batch
from hipo.app.options.verification import VerificationOverrides
from hipo.app.running.watching import Watcher
from hipo.app.runs.old_runs import bring_up_to_date
from hipo.app.verification.jury import estimate_jury, make_jury
from hipo.app.verification.jury_request import JuryRequest
from hipo.app.verification.verify import make_ready, verify_async
from hipo.cli.reports.estimate import (
    at_providers_as_text,
    batches_as_json,
    batches_as_text,
    judging_as_json,
    judging_as_text,
)
from hipo.cli.reports.verification import findings_as_json, findings_as_text, read_findings
from hipo.cli.terminal.console import Format, others_apart, write_json
from hipo.cli.terminal.errors import ExitCode, ended
from hipo.cli.terminal.progress import watcher
from hipo.cli.terminal.wrapping import write_text
from pipeline.store.run_store import RunStore


def run_verification(
    folder: Path,
    overrides: VerificationOverrides,
    *,
    retry_unreadable: bool = False,
    output_format: Format = "text",
    quiet: bool = False,
    watching: Watcher | None = None,
) -> int:
    """Verify a run as the command line does, and return the exit code.

    Raises:
        StoppedEarly: it ended early, e.g. interrupted; it can be continued.
    """
    with others_apart():
        done = asyncio.run(
            verify_async(
                folder,
                overrides,
                watcher=watching or watcher(quiet=quiet, name=folder.name),
                retry_unreadable=retry_unreadable,
                signals=True,
            )
        )
    findings = read_findings(folder)
    if output_format == "json":
        write_json(findings_as_json(done, findings))
    elif not quiet:
        write_text(findings_as_text(done, findings))
    return ended(done.outcome, failed=done.outcome.failed, folder=folder)


def check_batch(folder: Path, overrides: VerificationOverrides, jury: JuryRequest | None) -> None:
    """Do nothing where ``--batch`` is given and a model is asked that does not run in this process.

    Raises:
        UsageError: none is, or judges or jurors are not fit.
    """
    bring_up_to_date(folder)
    uses: list[ModelUse] = []
    with RunStore.open(folder, readonly=True) as store:
        if jury is not None:
            uses += make_jury(store, jury, overrides).uses.values()
        if jury is None or overrides.judges:
            uses += make_ready(store, overrides).panels.uses
    check_some_batch(uses)


def print_estimate(
    folder: Path,
    overrides: VerificationOverrides,
    jury: JuryRequest | None,
    output_format: Format,
    *,
    retry_unreadable: bool,
) -> int:
    """Say what verification would take; with jurors what they would, beside judges if some are named.

    ``batches`` of the JSON is what ``hipo generate --dry-run`` says there, ``at_providers`` the requests
    of earlier commands that lie at providers.
    """
    with RunStore.open(folder, readonly=True) as store, others_apart():
        planned = JudgingEstimate(0, (), rounds=0)
        if jury is not None:
            planned = estimate_jury(store, jury, overrides, retry_unreadable=retry_unreadable)
        if jury is None or overrides.judges:
            ready = make_ready(store, overrides)
            judged = estimate_judging(store, ready, retry_unreadable=retry_unreadable)
            judges = (*judged.judges, *planned.judges)
            planned = replace(
                judged,
                judges=judges,
                labelled_anew=planned.labelled_anew,
                rounds=judged.rounds + planned.rounds,  # jurors are asked when judges are done
            )
        at_providers = sum(batch.requests for batch in store.state().batches)
    batches = None
    if overrides.batch and planned.calls:
        most = max(judge.dialogues for judge in planned.judges)
        batches = labelling_batches(planned.rounds, most)
    if output_format == "json":
        more = {"batches": batches_as_json(batches), "at_providers": at_providers}
        write_json({**judging_as_json(planned), **more})
    else:
        blocks = [judging_as_text(planned)]
        if batches is not None:
            blocks.append(batches_as_text(batches))
        if at_providers:
            blocks.append(at_providers_as_text(at_providers))
        write_text("\n\n".join(blocks))
    return ExitCode.DONE
