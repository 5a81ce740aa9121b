"""Help: options under headings, rare ones apart, as wide as the window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import typer
from typer.core import TyperOption

from hipo.app.options.groups import OptionGroup
from hipo.cli.main import app
from pipeline.recipes.source import recipe_names
from tests.hipo.cli.conftest import Hipo

if TYPE_CHECKING:
    from typer._click import Command, Context

MOST = 25


def _commands(command: Command, parent: Context | None, name: str) -> Iterator[tuple[str, Command]]:
    """Yield the full name of every command below one, and the command."""
    context = command.context_class(command, info_name=name, parent=parent)
    yield context.command_path, command
    for below in getattr(command, "list_commands", lambda _: ())(context):
        child = command.get_command(context, below)  # type: ignore[attr-defined]
        yield from _commands(child, context, below)


ALL = dict(_commands(typer.main.get_command(app), None, "hipo"))


def _options_of(name: str) -> list[TyperOption]:
    return [param for param in ALL[name].params if isinstance(param, TyperOption)]


def _listed(text: str) -> list[str]:
    """Return the options that a help lists, by the last of their names."""
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in ALL if len(_options_of(name)) > MOST - 2])
def test_a_help_lists_at_most_25_options_and_says_where_the_others_are(
    hipo: Hipo, name: str
) -> None:
    arguments = name.split()[1:]
    short, whole = hipo(*arguments, "--help"), hipo(*arguments, "--help-all")
    assert short.code == whole.code == 0
    assert len(_listed(short.out)) <= MOST
    missing = len(_listed(whole.out)) - len(_listed(short.out))
    assert f"{missing} more options: {name} --help-all" in short.out
    assert "more option" not in whole.out
    assert {option.opts[-1] for option in _options_of(name)} <= {
        word for line in whole.out.splitlines() for word in re.split(r"[ ,]+", line)
    }


def test_the_long_commands_have_headings_in_one_order(hipo: Hipo) -> None:
    known = ["Arguments", "Options", *OptionGroup]
    for name in ("generate", "study", "export"):
        found = re.findall(r"^(\w+):$", hipo(name, "--help").out, re.MULTILINE)
        assert len(found) > 5
        assert found == [heading for heading in known if heading in found]


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_heading_of_an_option_is_a_known_one(name: str) -> None:
    panels = {option.rich_help_panel for option in _options_of(name)} - {None}
    assert panels <= {"Options", *OptionGroup}


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_model_is_m_and_a_count_is_n_in_every_command(name: str) -> None:
    names = [set(option.opts) for option in _options_of(name)]
    assert all("--count" in one for one in names if "-n" in one)
    if not any("--models" in one for one in names):
        assert all("-m" in one for one in names if "--model" in one)


@pytest.mark.parametrize(("columns", "widest"), [(60, 60), (100, 100), (300, 112)])
def test_help_uses_the_width_of_the_window_and_breaks_no_word(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch, columns: int, widest: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = hipo("export", "--help-all").out.splitlines()
    assert widest - 12 < max(map(len, lines)) <= widest
    whole = hipo("verify", "--help-all").out
    assert "cobra-juror-principles" in whole
    assert "docs/json-shapes.md" in whole


def test_a_command_without_rare_options_shows_its_help_where_all_is_asked_for(hipo: Hipo) -> None:
    assert hipo("show", "--help-all").out == hipo("show", "--help").out
    assert "--help-all" not in hipo("show", "--help").out


def test_rare_options_work_and_are_suggested_like_the_others(hipo: Hipo) -> None:
    assert "--max-tokens" in hipo("generate", "--max-tokn", "5").err
    planned = hipo("generate", "-m", "offline/rules", "--count", "2", "--seed", "3", "--dry-run")
    assert planned.code == 0
    assert planned.out.startswith("2 cases, 2 dialogues")


@pytest.mark.parametrize("name", ["generate", "study"])
def test_every_recipe_that_ships_is_named(hipo: Hipo, name: str) -> None:
    assert ", ".join(recipe_names()) in " ".join(hipo(name, "--help").out.split())


def test_every_page_has_a_port_of_its_own() -> None:
    ports = [
        option.default for name in ALL for option in _options_of(name) if option.name == "port"
    ]
    assert len(ports) == len(set(ports)) == 3
