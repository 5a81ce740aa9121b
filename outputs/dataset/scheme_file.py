"""The scheme of a set's labels, in a file beside its rows: a set of one's own labels needs no other."""

from __future__ import annotations

from pathlib import Path

import orjson

from scenarios.schemes.model import Scheme
from scenarios.yaml_source import read_yaml, validate_model

SCHEME = "scheme.json"
"""JSON, which ``--scheme`` reads like YAML: harnesses take every YAML file of a set for a task."""


def write_scheme(folder: Path, scheme: Scheme) -> None:
    """Write the scheme into the folder of an export.

    Raises:
        OSError: it could not be written.
    """
    plain = scheme.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    (folder / SCHEME).write_bytes(orjson.dumps(plain, option=orjson.OPT_INDENT_2) + b"\n")


def read_scheme(folder: Path) -> Scheme | None:
    """Return the scheme that lies in the folder of an export, a file like any from elsewhere.

    Returns:
        None where there is none, as in sets of earlier versions of hipo.

    Raises:
        InputError: the file is no scheme, or lies outside of the folder.
    """
    file = folder / SCHEME
    return validate_model(Scheme, read_yaml(file, within=folder)) if file.exists() else None
