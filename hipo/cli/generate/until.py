"""When ``hipo generate`` has enough: its options, and the way from them to how a run is played."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from hipo.app.options.groups import OptionGroup
from hipo.app.options.verification import VerificationOverrides
from hipo.cli.options.plain import with_group
from quality.saturation_window import WINDOW
from scenarios.errors import UsageError


@dataclass(frozen=True, slots=True)
class Until:
    """What a run goes on for besides its plan; at most one of the first three is given."""

    accepted: int | None
    quota: Path | None
    saturated: float | None
    window: int

    @property
    def given(self) -> tuple[str, ...]:
        """The options that say when there is enough, those that were given."""
        options = (
            ("--accepted", self.accepted),
            ("--quota", self.quota),
            ("--until-saturated", self.saturated),
        )
        return tuple(name for name, value in options if value is not None)

    def check(self, overrides: VerificationOverrides, *, verify: bool) -> None:
        """Raise where a run is to end in two ways, or an option says of what is not done how.

        Raises:
            UsageError: it is, or does.
        """
        if len(self.given) > 1:
            raise UsageError(
                f"{' and '.join(self.given)} both say when there is enough", "give one of them"
            )
        if self.window != WINDOW and self.saturated is None:
            raise UsageError(
                "--saturation-window is of no use without --until-saturated", "give both, or none"
            )
        judged = verify or self.accepted is not None or self.quota is not None
        if not judged and overrides.about_judging:
            raise UsageError(
                f"{', '.join(overrides.about_judging)}: no dialogue is judged", "give --verify, too"
            )
        if overrides.foils and self.given and self.saturated is None:
            raise UsageError(
                f"--foils shows wrong labels when all is played, and {self.given[0]} stops before",
                "leave --foils out; hipo verify --foils shows them afterwards",
            )
        overrides.check_used()

    def check_pilot(self, *, dry_run: bool) -> None:
        """Raise where a pilot is not asked for as a forecast, or of what cannot be forecast.

        Raises:
            UsageError: it is not.
        """
        if not dry_run:
            raise UsageError("--pilot makes a forecast and keeps nothing", "give --dry-run, too")
        for option in self.given:
            if option != "--accepted":
                raise UsageError(
                    f"--pilot forecasts a plan, and {option} has none: what is played next depends on what came",
                    "play a part into a run with -n; --dry-run of the same command then estimates from it",
                )


def _until(
    *,
    accepted: int | None = typer.Option(
        None, "--accepted", min=1, hidden=True, metavar="N",
        rich_help_panel=OptionGroup.VERIFICATION,
        help="Go on until N dialogues are accepted, the budget ends, or -n cases are played; implies "
        "--verify.",
    ),
    quota: Path | None = typer.Option(
        None, "--quota", metavar="FILE", show_default=False,
        rich_help_panel=OptionGroup.VERIFICATION,
        help="Go on until every cell of this file (labels, goal, category) has so many accepted "
        "utterances, or the budget ends; implies --verify.",
    ),
    until_saturated: float | None = typer.Option(
        None, "--until-saturated", min=0.0, max=1.0, hidden=True, metavar="SHARE",
        show_default=False,
        help="Go on, with repetitions, until of the last 1,000 dialogues fewer than this share are "
        "distinct, the budget ends, or -n cases are played.",
    ),
    saturation_window: int = typer.Option(
        WINDOW, "--saturation-window", min=10, hidden=True, metavar="N",
        help="With --until-saturated: look at the last N dialogues.",
    ),
) -> Until:  # fmt: skip
    return Until(accepted, quota, until_saturated, saturation_window)


with_until = with_group("until", _until)
"""Gives a command the options that say when there is enough; it gets them as ``until``."""
