"""Write a commented scheme file that is valid as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from scenarios.errors import UsageError

_DATA = Path(__file__).parents[1] / "data"
SOURCE = "say where the labels come from"
"""What stands as the source until somebody replaces it; validation finds it."""
_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")


def new_scheme(scheme_id: str, *, flow: bool = False) -> str:
    """Return the text of a new scheme file, with guidance above every field.

    Args:
        scheme_id: its id; the file is to be called the same.
        flow: for any people in a conversation, in place of one who asks and one who answers under
            a goal.

    Raises:
        UsageError: this cannot be an id.
    """
    if not _ID.fullmatch(scheme_id):
        raise UsageError(
            f"{scheme_id!r} cannot be the id of a scheme",
            "it takes lower-case letters, digits and _, beginning with a letter, at most 64",
        )
    return scheme_template(flow=flow).substitute(id=scheme_id, source=SOURCE)


def scheme_template(*, flow: bool) -> Template:
    """Return the template; its fields are ``id`` and ``source``."""
    name = "new_flow_scheme.yaml" if flow else "new_scheme.yaml"
    return Template((_DATA / name).read_text(encoding="utf-8"))
