"""``hipo metrics strategic``: benefit and penalty of answers, and who is ahead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import typer

from hipo.app.metrics.strategic import DEFAULT_MAP, strategic_metrics
from hipo.app.options.values import split
from hipo.cli.main import command_app
from hipo.cli.metrics.strategic_text import strategic_as_json, strategic_as_text
from hipo.cli.terminal.console import hush
from hipo.cli.terminal.errors import ExitCode, say
from hipo.cli.terminal.json_target import JSON, deliver
from outputs.strategic_plots import write_strategic_plots
from quality.strategic.formula import Variant
from scenarios.errors import UsageError

app = command_app()
_PAIRS = typer.Option(
    [],
    "--pair",
    metavar="FIRST,SECOND",
    help="Two of those that are compared, say a larger and a smaller model: which of them is "
    "nearer to the others, over all dialogues; repeatable, and all pairs count together.",
    show_default=False,
)

_BY = typer.Option(
    "",
    "--by",
    metavar="NAME[,NAME]",
    help="Answers, labels and net benefit by a column, or by two: trial,asked_by, say, or group; of "
    "a run scenario, say.",
    show_default=False,
)

_WEIGHTS = typer.Option(
    "",
    metavar="NAME=X,...",
    help="What a violation counts; default relevance=0.4, manner=0.4, quality=0.2, consistency=0.2.",
    show_default=False,
)


@app.command("strategic")
def strategic(
    *,
    sources: list[str] = typer.Argument(
        ..., metavar="FILE...|RUN", help="Tables of answers and their labels, or one run."
    ),
    map_name: str | None = typer.Option(
        None,
        "--map",
        metavar="NAME|FILE",
        help=f"What the columns of files stand for; default {DEFAULT_MAP}.",
        show_default=False,
    ),
    against: str = typer.Option(
        "",
        "--with",
        metavar="WHO,...",
        help="Annotators that the others are compared with: names, or kinds such as juror. Of a run "
        "the default is everybody but the people, or but the speaker where no people answered.",
        show_default=False,
    ),
    pairs: list[str] = _PAIRS,
    by: str = _BY,
    variant: Variant = typer.Option(
        "as_printed", help="The equations as printed, or as the released annotations have them."
    ),
    weights: str = _WEIGHTS,
    threshold: int = typer.Option(3, help="From which rating on a maxim is violated."),
    plots: Path | None = typer.Option(
        None, "--plots", metavar="DIR", help="Draw each dialogue and what was said, as SVG files."
    ),
    json_target: str | None = JSON,
) -> int:
    """Compute what answers gain and cost, from labels of commitment, maxims and consistency.

    BaT and PaT are benefit and penalty of an answer, NRBaT how far the sum of benefit is ahead
    along the discourse, NRA answers won less answers lost. Printed are counts of labels, agreement
    of annotators, and how well benefit and penalty tell who wins; --json has every answer.
    """
    hush()
    parameters: dict[str, object] = {"variant": variant, "threshold": threshold}
    found = strategic_metrics(
        sources,
        map_name=map_name,
        against=split([against]),
        pairs=[_pair(text) for text in pairs],
        by=split([by]),
        parameters={**parameters, "weights": _weights(weights)},
    )
    if plots is not None:
        drawn = write_strategic_plots(
            plots, found.discourses, found.distributions, found.histograms, found.outcome
        )
    deliver(lambda: strategic_as_json(found), lambda: strategic_as_text(found), json_target)
    if plots is not None:
        say(f"plots: {len(drawn)} in {plots}")
    return ExitCode.DONE


def _pair(text: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise UsageError(f"the pair {text!r} is no two names", "write --pair LARGER,SMALLER")
    return names[0], names[1]


def _weights(text: str) -> Mapping[str, float]:
    weights = {}
    for part in filter(None, re.split(r"[,\s]+", text)):
        name, _, value = part.partition("=")
        try:
            weights[name] = float(value)
        except ValueError:
            raise UsageError(
                f"the weight {part!r} is no name with a number", "write --weights manner=0.3"
            ) from None
    return weights
