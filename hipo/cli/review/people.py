"""``hipo review user``: who may log in, who took part, and taking somebody out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from hipo.app.runs.folders import find_run
from hipo.cli.main import RUN, command_app
from hipo.cli.terminal.console import Format, columns, plain, write_json
from hipo.cli.terminal.errors import say
from quality.review.passwords import LEAST, hashed
from scenarios.errors import UsageError
from scenarios.plural import plural

if TYPE_CHECKING:
    from scenarios.reviews import Annotator

app = command_app(no_args_is_help=True, help="The people who review a run.")


@app.command("add")
def add(
    run: str = RUN,
    name: str = typer.Argument(..., help="What they log in with."),
    expert: bool = typer.Option(False, "--expert", help="Adjudicates instead of annotating."),
) -> None:
    """Give somebody an account; the password is asked for, or read from a pipe.

    Only a hash of it is stored. Accounts are needed where the page is reached from other machines.
    """
    folder = find_run(run)
    password = _password()
    if len(password) < LEAST:
        raise UsageError(f"a password needs at least {LEAST} characters", "choose a longer one")
    from pipeline.store.reviews import ReviewStore  # noqa: PLC0415 - with all that a run holds

    with ReviewStore.open(folder) as store:
        person = store.people.add_account(
            name, "expert" if expert else "annotator", hashed(password)
        )
    print(f"{name} can log in; everywhere else they are {person.code}")


@app.command("list")
def show(
    run: str = RUN,
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> None:
    """List everybody who took part, with the name behind each code."""
    from pipeline.store.reviews import ReviewStore  # noqa: PLC0415 - with all that a run holds

    with ReviewStore.open(find_run(run)) as store:
        people = store.people.everybody()
    if output_format == "json":
        write_json([person_as_json(person) for person in people])
    elif not people:
        print("nobody has taken part yet")
    else:
        header = ["code", "name", "role", "account", ""]
        print(columns(header, [_row(person) for person in people]))


@app.command("erase")
def erase(
    run: str = RUN,
    who: str = typer.Argument(..., metavar="WHO", help="A code or a name."),
    answers: bool = typer.Option(
        False, "--answers", help="Their answers too; their items are given out again."
    ),
) -> None:
    """Take a person out of a run: name, account, sessions, drafts, notes.

    Their labels stay under the code, so that agreement can still be computed, unless --answers
    takes them away as well.
    """
    from pipeline.store.people import erase_person  # noqa: PLC0415 - with all that a run holds
    from pipeline.store.reviews import ReviewStore  # noqa: PLC0415 - as above

    folder = find_run(run)
    with ReviewStore.open(folder) as store:
        person = store.people.find(who)
    backups = erase_person(folder, person.seq, answers=answers)
    kept = "and every answer" if answers else "; labels stay under the code"
    print(f"{person.code}: the name is gone{' ' if answers else ''}{kept}")
    if backups:
        say(f"warning: {plural(len(backups), 'backup')} may still hold the name: {backups[0]} ...")


def person_as_json(person: Annotator) -> dict[str, object]:
    """Return one row of what ``hipo review user list RUN --format json`` prints.

    ``code``, ``name`` (None where erased), ``role``, ``account``, ``consented`` (Unix seconds) and
    ``erased``.
    """
    return plain(
        person,
        "code name role account",
        consented=person.consented_at,
        erased=person.erased_at is not None,
    )


def _row(person: Annotator) -> list[str]:
    state = "erased" if person.erased_at is not None else ""
    return [person.code, person.name or "", person.role, "yes" if person.account else "", state]


def _password() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\n")
