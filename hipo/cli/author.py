"""``hipo author``: write scenarios and label schemes in a form, without touching YAML."""

from __future__ import annotations

from pathlib import Path

import typer

from hipo.app.options.recipe import RecipeChanges
from hipo.cli.main import command_app
from hipo.cli.options.shared import PLUGINS, with_recipe_options
from hipo.cli.reports.run import say_spent
from hipo.cli.terminal.console import dollars
from hipo.cli.terminal.errors import ExitCode, say
from hipo.cli.terminal.page_packages import check_page_packages
from scenarios.text_file import shown_path

app = command_app()


@app.command("author")
@with_recipe_options(
    "models.default.base_url",
    "models.default.api_key_env",
    "prices",
    "budget_usd",
    "budget_tokens",
)
def author(
    *,
    folder: Path = typer.Argument(
        ..., metavar="FOLDER", help="Of scenarios and schemes; nothing outside it is written."
    ),
    model: str = typer.Option(
        "offline/rules",
        "-m",
        "--model",
        metavar="MODEL",
        help="provider/model that plays previews; what each costs stands on its button.",
    ),
    port: int = typer.Option(8644, "--port", min=1, max=65535, help="On this machine only."),
    plugins: list[Path] | None = PLUGINS,
    given: RecipeChanges,
) -> int:
    """Serve a form for scenarios and label schemes, checked as you type, until interrupted.

    It opens and writes the commented YAML files of one folder; what it does not know in them stays.
    The page is for this machine alone, and the link that is printed lets one browser in. A budget is
    for all previews until then; what each took is printed.
    """
    check_page_packages("the form")
    from hipo.app.authoring import open_desk  # noqa: PLC0415 - optional
    from quality.authoring.app import authoring_app  # noqa: PLC0415 - optional
    from quality.web.access import Access  # noqa: PLC0415 - optional
    from quality.web.server import Address, listening, server  # noqa: PLC0415 - optional
    from quality.web.single_owner import SingleOwner  # noqa: PLC0415 - optional

    address = Address(port=port)
    desk = open_desk(folder, model, dollars, given, say_spent)

    def announce(token: str) -> None:
        say(f"  {address.url}/enter?token={token}")

    owner = SingleOwner("author", announce)
    with listening(address) as listener:
        serving = server(authoring_app(desk, owner, Access(hosts=address.hosts)), address)
        price = f", {desk.price}" if desk.price else ""
        say(f"files of {shown_path(folder)}; previews by {model}{price}; Ctrl-C ends the page")
        say("open this link (it lets one browser in):")
        announce(owner.mint())
        serving.run(sockets=[listener])
    return ExitCode.DONE
