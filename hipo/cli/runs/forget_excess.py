"""``hipo runs forget-excess``: forget that endpoints counted more than was asked of them."""

from __future__ import annotations

import typer

from hipo.app.runs.excess import forget_excess
from hipo.cli.main import command_app

app = command_app()


@app.command("forget-excess")
def forget(
    run: str = typer.Argument(
        ...,
        metavar="RUN|FOLDER",
        help="A run, by folder or name, or the folder of an evaluation or of translations.",
    ),
) -> None:
    """Forget that endpoints counted more tokens than was asked of them.

    The budget holds back more for each request from then on; after a count that was a mistake, it
    holds back too much. What was charged stays charged: raise the budget by as much, if it is not
    on the bill.
    """
    known = forget_excess(run)
    if not known:
        print("nothing to forget: no endpoint was found to count more than was asked of it")
    for (provider, _, model), excess in known.items():
        print(f"{provider}/{model}: the budget took {excess.in_words()}; forgotten")
