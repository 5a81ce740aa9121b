"""``hipo review``: a page people label and confirm on, and what goes in and out of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hipo.app.runs.folders import find_run
from hipo.cli.main import RUN, command_app
from hipo.cli.review.agreement import print_agreement
from hipo.cli.review.files import export_answers, import_answers, list_reports
from hipo.cli.review.people import app as people_app
from hipo.cli.terminal.errors import ExitCode, say
from hipo.cli.terminal.page_packages import check_page_packages
from scenarios.plural import plural
from scenarios.reviews import Mode

if TYPE_CHECKING:
    from hipo.app.review.reviewing import ReviewOptions
    from quality.web.server import Address

app = command_app(
    no_args_is_help=True,
    help="Review dialogues on a web page, and pass answers to other tools and back.",
)
app.add_typer(people_app, name="user")
app.command("export")(export_answers)
app.command("import")(import_answers)
app.command("agreement")(print_agreement)
app.command("reports")(list_reports)

_MODE = typer.Option(
    "review",
    "--mode",
    help="review: what was flagged, with the fact; quiz: the human baseline, without; gold: the gold "
    "lines, of which a run is made in a new folder RUN.",
)
_BALANCE = typer.Option(
    None,
    "--balance",
    metavar="DIMENSION",
    help="Of a quiz with -n: the dimension whose labels are drawn evenly; default all of utterances.",
)
_HIDE = typer.Option(
    [], "--hide", metavar="DIMENSION=LABEL", help="A label that is not offered; repeatable."
)
_TRANSLATIONS = typer.Option(
    [], "--translations", help='JSON lines {"language", "text", "translation"}; repeatable.'
)
_ATTENTION = typer.Option(
    0,
    "--attention",
    min=0,
    metavar="N",
    help="Of a quiz: lines with known labels mixed among each annotator's items; see hipo qc RUN.",
)
_LEASE = typer.Option(
    20.0, "--lease-minutes", min=1, help="An item somebody leaves goes to others after this."
)
_PROXY = typer.Option(
    [],
    "--trusted-proxy",
    metavar="IP",
    help="Only this address or network, which speaks TLS for us; repeatable.",
)
_PUBLIC = typer.Option(
    [],
    "--public-url",
    metavar="URL",
    help="What people type to reach the page; others are refused; repeatable.",
)


@app.command("serve")
def serve(
    *,
    run: str = RUN,
    mode: Mode = _MODE,
    study: str | None = typer.Option(None, "--study", help="Name; defaults to the mode."),
    per_item: int = typer.Option(3, "--per-item", min=1, help="Annotators who see every item."),
    seed: int = typer.Option(42, "--seed", help="Decides orders and draws."),
    everything: bool = typer.Option(False, "--all", help="Every dialogue, flagged or not."),
    most: int | None = typer.Option(
        None, "-n", "--count", min=1, help="At most so many items, drawn; a quiz evenly."
    ),
    balance: str | None = _BALANCE,
    category: list[str] = typer.Option([], "--category", help="Only this category; repeatable."),
    reason: list[str] = typer.Option([], "--reason", help="Only flagged for this; repeatable."),
    hide: list[str] = _HIDE,
    attention: int = _ATTENTION,
    consent: Path | None = typer.Option(None, "--consent", help="Text people agree to (Markdown)."),
    translations: list[Path] = _TRANSLATIONS,
    lease_minutes: float = _LEASE,
    host: str = typer.Option("127.0.0.1", "--host", help="Others need accounts and TLS."),
    port: int = typer.Option(8642, "--port", min=1, max=65535),
    certfile: Path | None = typer.Option(None, "--certfile", help="TLS certificate (PEM)."),
    keyfile: Path | None = typer.Option(None, "--keyfile", help="Its key (PEM)."),
    trusted_proxy: list[str] = _PROXY,
    public_url: list[str] = _PUBLIC,
) -> int:
    """Serve the review page of a run until interrupted; answers are stored in the run.

    Prints a link for annotators and one for the expert; each lets one browser in, and a fresh one
    is printed when it has been used.
    """
    from hipo.app.review.gold_run import gold_run  # noqa: PLC0415 - with all that plays
    from hipo.app.review.reviewing import ReviewOptions  # noqa: PLC0415 - as above

    options = ReviewOptions(
        mode=mode,
        name=study,
        per_item=per_item,
        seed=seed,
        everything=everything,
        most=most,
        balance=balance,
        categories=category,
        reasons=reason,
        hidden=hide,
        consent=consent,
        translations=translations,
        lease_minutes=lease_minutes,
        attention=attention,
    )
    check_page_packages("the review page")
    from quality.web.server import Address  # noqa: PLC0415 - optional

    proxies, urls = tuple(trusted_proxy), tuple(public_url)
    folder = gold_run(run) if mode == "gold" else find_run(run)
    _serve(folder, options, Address(host, port, certfile, keyfile, proxies, urls))
    return ExitCode.DONE


def _serve(folder: Path, options: ReviewOptions, address: Address) -> None:
    from hipo.app.review.reviewing import open_review  # noqa: PLC0415 - with all that plays
    from quality.review.app import build_app  # noqa: PLC0415 - optional
    from quality.web.server import access_at, listening, server  # noqa: PLC0415 - optional

    def announce(role: str, token: str) -> None:
        say(f"  {role + ':':11}{address.url}/enter?token={token}")

    service = open_review(folder, options, lambda accounts: access_at(address, accounts), announce)
    with service.store, listening(address) as listener:
        serving = server(build_app(service), address)
        items = len(service.store.sheets.items(service.study))
        say(
            f"{plural(items, 'item')}, {plural(options.per_item, 'annotator')} each; Ctrl-C ends the page"
        )
        if service.access.accounts:
            say(f"  people with an account log in at {address.url}/login")
        else:
            say("links (each lets one browser in):")
            announce("annotator", service.links.mint("annotator"))
            announce("expert", service.links.mint("expert"))
        serving.run(sockets=[listener])
