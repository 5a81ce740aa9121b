"""Every command that a page shows is one, with options that it has; every link leads somewhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from typer._click.exceptions import (
    BadParameter,
    ClickException,
    MissingParameter,
    NoSuchOption,
)
from typer.core import TyperGroup

from benchmarks.__main__ import LONG, NAMES
from hipo.cli.main import app
from scenarios.errors import HipoError

if TYPE_CHECKING:
    from typer._click import Command, Context

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name != "commands.md"),
)
by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
WORD_FOR_A_NUMBER = re.compile(r"[nNX]|\$\w+")


def lines_of(page: Path) -> Iterator[str]:
    """Yield the lines of its blocks for a shell, and the commands in its sentences."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```\w*[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        yield from block.replace("\\\n", " ").splitlines()
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    yield from (" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose))


def commands_in(line: str) -> Iterator[list[str]]:
    """Yield the arguments of each ``hipo`` that a line calls."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # a quotation mark that is an apostrophe: no command
        return
    called: list[str] | None = None
    for place, word in enumerate([*words, ";"]):
        if set(word) <= set("|&;<>()"):
            if called is not None:
                yield called
            called = None
        elif called is not None:
            called.append("1" if WORD_FOR_A_NUMBER.fullmatch(word) else word)
        elif word == "hipo" and (place == 0 or not words[place - 1][-1].isalpha()):
            called = []


def refused(arguments: list[str]) -> str:
    """Return what a command has against its options; empty: nothing."""
    command: Command = typer.main.get_command(app)
    context: Context | None = None
    name, rest = "hipo", [word for word in arguments if word not in ("...", "…")]
    try:
        while isinstance(command, TyperGroup):
            context = command.make_context(name, rest, parent=context)
            rest = [*context._protected_args, *context.args]
            if not rest:
                return ""
            below = command.get_command(context, rest[0])
            if below is None:
                return f"there is no command {rest[0]}"
            name, rest, command = rest[0], rest[1:], below
        command.make_context(name, rest, parent=context)
    except MissingParameter:
        return ""
    except (NoSuchOption, BadParameter) as error:
        return error.format_message()
    except (
        ClickException,
        typer.Exit,
        HipoError,
    ):  # an option named without a value, a missing file
        return ""
    return ""


@by_page
def test_commands_have_the_options_that_a_page_gives_them(page: Path) -> None:
    wrong = {
        shlex.join(arguments): why
        for line in lines_of(page)
        for arguments in commands_in(line)
        if (why := refused(arguments))
    }
    assert wrong == {}


def test_an_option_that_is_none_is_found() -> None:
    (wrong,) = commands_in("hipo export runs/mine --too benchmark -o sets/x  # a set")
    assert "--too" in refused(wrong)
    assert [refused(one) for one in commands_in("hipo runs merg a || hipo review user ad")] == [
        "there is no command merg", "there is no command ad",
    ]  # fmt: skip


def test_many_commands_stand_on_the_pages() -> None:
    found = [one for page in PAGES for line in lines_of(page) for one in commands_in(line)]
    assert len(found) > 300


@by_page
def test_links_lead_to_a_page_and_to_a_heading_of_it(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        led = page.parent / name if name else page
        assert led.exists(), target
        assert not anchor or anchor in anchors_of(led), target


def anchors_of(page: Path) -> set[str]:
    """Return what a page's headings are called in an address."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


@by_page
def test_a_benchmark_that_is_named_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"python\s+-m\s+benchmarks\s+(\w+)", text))
    assert named <= {*NAMES, *LONG}
    for module in re.findall(r"python -m benchmarks\.(\w+)", text):
        assert (ROOT / "benchmarks" / f"{module}.py").is_file(), module
