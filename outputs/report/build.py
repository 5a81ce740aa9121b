"""A report from a run: what was generated, how good it is, and what it took."""

from __future__ import annotations

from pathlib import Path

from outputs.report.accepted import accepted_section
from outputs.report.by_scenario import scenarios_section
from outputs.report.cumulative import cumulative_section
from outputs.report.effort import diversity_section, effort_section
from outputs.report.exhibits import flags_section, samples_section, showcase_section
from outputs.report.gathered import Gathered, ReportOptions, gather
from outputs.report.judged import agreement_section, strategies_section, turns_section
from outputs.report.labels import labels_section, tactics_section
from outputs.report.method import method_section
from outputs.report.overview import funnel_section, notices, overview_section
from outputs.report.page import Page, render_page
from outputs.report.shortcuts import shortcuts_section
from outputs.report.wording import moment
from pipeline.voting import Encoder

FICTION = (
    "Everything said in these dialogues is invented, also where a scenario goes back to a public "
    "matter. What is called a private fact is an assumption of the simulation."
)
IMPORTED = (
    "These dialogues were imported from files of others: whether they were ever held, by whom, and "
    "about whom is not recorded here."
)


async def build_report(
    folder: Path,
    options: ReportOptions,
    *,
    name: str,
    version: str,
    encoder: Encoder | None = None,
) -> str:
    """Return the report of a run as the text of one HTML file; the same run gives the same text.

    Args:
        folder: the run.
        options: how much is shown.
        name: what the run is called in commands that the report proposes.
        version: of the code, for the footer.
        encoder: embeds utterances to see how far they are spread; None leaves that out.

    Raises:
        UsageError: there is no run, or its scheme has changed since.
    """
    return render_page(
        report_page(await gather(folder, options, name=name, encoder=encoder), version)
    )


def report_page(run: Gathered, version: str) -> Page:
    """Return the report as plain data."""
    models = ", ".join(run.models)
    return Page(
        title=f"{run.state.name}: dialogues and labels",
        subtitle=f"Run report · {models} · {moment(run.state.updated)} · {run.state.state}",
        notices=notices(run),
        sections=(
            showcase_section(run),
            overview_section(run),
            *(() if run.imported else (method_section(run),)),
            funnel_section(run),
            labels_section(run),
            accepted_section(run),
            scenarios_section(run),
            strategies_section(run),
            turns_section(run),
            *(section for section in (run.options.evaluation,) if section is not None),
            cumulative_section(run.options.cumulative, run.scheme, run.run),
            tactics_section(run),
            agreement_section(run),
            *run.options.statistics,
            shortcuts_section(run),
            diversity_section(run),
            *run.options.yields,
            effort_section(run),
            samples_section(run),
            flags_section(run),
        ),
        footer=(
            IMPORTED if run.imported else FICTION,
            "Intervals are percentile bootstraps over scenarios (2,000 resamples, 95%).",
            f"Made by hipo {version} from the record of the run; this page loads nothing.",
        ),
    )
