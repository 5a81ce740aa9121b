"""What all commands share: a help with headings, a bound on numbers, and options that are given once.

Options stand under headings, the rare ones only where all are asked for.

An option says its heading with ``rich_help_panel=OptionGroup.LIMITS``, and that it is rare with
``hidden=True``: both are keywords of ``typer.Option``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperOption
from typer.exceptions import TyperException

from hipo.app.options.groups import OptionGroup
from scenarios.errors import UsageError
from scenarios.located import shortened
from scenarios.terms import LARGEST

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter, Parameter

WIDEST = 112
"""Columns of a terminal that a help makes use of; lines are two shorter."""
ALL = "hipo.help_all"
"""Key in the ``meta`` of a context: whether a help lists rare options, too."""
_FIRST_COLUMN = 30
_UNBROKEN = "\u2011"
"""A hyphen that no line ends with: it stands in names of options while lines are broken."""


class GroupedCommand(TyperCommand):
    """A command whose help has headings, and ``--help-all`` where it has rare options."""

    _help_all: TyperOption | None = None

    def get_params(self, ctx: Context) -> list[Parameter]:
        """Return the parameters; ``--help-all`` stands before ``--help``."""
        params = super().get_params(ctx)
        help_option = self.get_help_option(ctx)
        rare = sum(_is_rare(param) for param in params)
        if help_option is None or not rare:
            return params
        if self._help_all is None:
            options = sum(isinstance(param, TyperOption) for param in params) + 1
            self._help_all = copy(help_option)
            self._help_all.name, self._help_all.opts = "help_all", ["--help-all"]
            self._help_all.help = f"Show all {options} options and exit."
            self._help_all.callback = _show_all
        return [*params[:-1], self._help_all, params[-1]]

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the command line; what is wrong with it says whose help to look at.

        Where no option is rare, ``--help`` shows all of them, and ``--help-all`` is the same.

        Raises:
            UsageError: an option that takes one name or file has two.
        """
        if not any(map(_is_rare, super().get_params(ctx))):
            args = ["--help" if one == "--help-all" else one for one in args]
        try:
            left = super().parse_args(ctx, list(args))
        except TyperException as error:
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]
            raise
        self._check_given_once(ctx, args)
        return left

    def _check_given_once(self, ctx: Context, args: list[str]) -> None:
        """Raise for an option with two different names or files that takes one.

        Of two numbers the last counts, as in other programs: nobody means both.
        """
        parser = self.make_parser(ctx)
        single = [
            param
            for param in self.params
            if isinstance(param, TyperOption)
            and not (param.is_flag or param.multiple)
            and isinstance(ctx.params.get(param.name or ""), str | Path)
        ]
        for param in single:
            collecting = copy(param)
            collecting.multiple = True
            collecting.add_to_parser(parser, ctx)
        given, _, _ = parser.parse_args(args=list(args))
        for param in single:
            values = list(dict.fromkeys(given.get(param.name, ())))
            if len(values) > 1:
                found = " and ".join(shortened(value) for value in values)
                in_one = f", as {','.join(values)}" if "," in (param.metavar or "") else ""
                raise UsageError(
                    f"{param.opts[0]} is given more than once, and takes one value: found {found}",
                    f"give it once{in_one}",
                )

    def invoke(self, ctx: Context) -> Any:
        """Run the command.

        Raises:
            UsageError: a number is too large for whatever stores it.
        """
        for param in self.params:
            value = ctx.params.get(param.name or "")
            for number in value if isinstance(value, list | tuple) else (value,):
                if isinstance(number, int) and abs(number) > LARGEST:
                    raise UsageError(
                        f"{param.opts[0]}: found {number}, expected at most {LARGEST:,}",
                        "give a smaller number",
                    )
        return super().invoke(ctx)

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write arguments, then the options of every heading."""
        everything = bool(ctx.meta.get(ALL))
        blocks: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        left_out = 0
        for param in self.get_params(ctx):
            if _is_rare(param) and not everything:
                left_out += 1
                continue
            record = _record(param, ctx)
            if record is not None:
                blocks[self._heading(param, ctx)].append(record)
        longest = max((len(name) for rows in blocks.values() for name, _ in rows), default=0)
        width = min(longest, _FIRST_COLUMN)
        for heading in _in_order(blocks):
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in blocks[heading]])
        if left_out:
            formatter.write_paragraph()
            more = f"{left_out} more option{'s' if left_out > 1 else ''}"
            formatter.write_text(f"{more}: {ctx.command_path} --help-all")

    def get_help(self, ctx: Context) -> str:
        """Return the help with its hyphens as they are typed."""
        return super().get_help(ctx).replace(_UNBROKEN, "-")

    def _heading(self, param: Parameter, ctx: Context) -> str:
        if not isinstance(param, TyperOption):
            return "Arguments"
        if param.rich_help_panel is not None:
            return param.rich_help_panel
        grouped = any(getattr(other, "rich_help_panel", None) for other in self.params)
        asks_for_help = param in (self._help_all, self.get_help_option(ctx))
        return OptionGroup.OUTPUT if grouped and asks_for_help else "Options"


class CommandApp(typer.Typer):
    """An app whose commands have a grouped help."""

    def command(self, name: str | None = None, **settings: Any) -> Any:
        """Return a decorator that makes a function the command ``name``; see typer."""
        settings.setdefault("cls", GroupedCommand)
        return super().command(name, **settings)


def _is_rare(param: Parameter) -> bool:
    return isinstance(param, TyperOption) and param.hidden


def _record(param: Parameter, ctx: Context) -> tuple[str, str] | None:
    """Return name and text of a parameter, with hyphens at which no line is broken."""
    shown = copy(param)
    if isinstance(shown, TyperOption):
        shown.hidden = False
    record = shown.get_help_record(ctx)
    return None if record is None else (record[0], record[1].replace("-", _UNBROKEN))


def _in_order(headings: Iterable[str]) -> list[str]:
    known = ["Arguments", "Options", *OptionGroup]
    return sorted(headings, key=lambda one: known.index(one) if one in known else len(known))


def _show_all(ctx: Context, _: Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        print(ctx.get_help())
        raise typer.Exit
