"""``hipo generate --quota``: its option, and the way from a file to how a run is played."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.option_groups import OptionGroup
from hipo.app.preparation import Prepared
from hipo.app.quota import plan_quota
from hipo.app.verification import VerificationOverrides
from hipo.app.verified_generation import VerifiedPlay
from scenarios.errors import UsageError

QUOTA = typer.Option(
    None,
    "--quota",
    metavar="FILE",
    show_default=False,
    rich_help_panel=OptionGroup.VERIFICATION,
    help="Go on until every cell of this file (labels, goal, category) has so many accepted "
    "utterances, or the budget ends; implies --verify.",
)


def check_alone(quota: Path | None, accepted: int | None) -> None:
    """Raise where a quota stands beside what ends a run otherwise.

    Raises:
        UsageError: it does.
    """
    if quota is not None and accepted is not None:
        raise UsageError(
            "--quota and --accepted both say when there is enough", "give one of the two"
        )


def towards_quota(
    file: Path, prepared: Prepared, folder: Path, overrides: VerificationOverrides
) -> tuple[Prepared, VerifiedPlay]:
    """Return how to play towards a quota, and a plan of as many cases as that will probably take.

    Raises:
        UsageError: the file is not right, or no cell of it can be filled.
    """
    planned = plan_quota(file, prepared)
    play = VerifiedPlay(overrides, quota=planned)
    return planned.played(prepared, planned.estimate(folder).cases), play
