"""Find a scheme: a shipped one by id, or any by its file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from scenarios.errors import InputError, UsageError
from scenarios.schemes.model import Scheme
from scenarios.spelling import suggestion
from scenarios.yaml_source import read_yaml, validate_model

_SHIPPED = Path(__file__).parent / "data"


def scheme_names() -> list[str]:
    """Return the ids of the schemes that ship, sorted."""
    return sorted(path.stem for path in _SHIPPED.glob("*.yaml"))


def load_scheme(name_or_path: str) -> Scheme:
    """Load a scheme by its shipped id, or from a path that ends in ``.yaml`` or ``.yml``.

    Raises:
        UsageError: no scheme has this name.
        InputError: the file is not a scheme.
    """
    if name_or_path in scheme_names():
        return _shipped(name_or_path)
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        return _read(path)
    raise UsageError(
        f"unknown scheme {name_or_path!r}",
        suggestion(name_or_path, scheme_names(), listing="schemes")
        + "; a file of your own is given by its path, e.g. ./my_scheme.yaml",
    )


@cache
def _shipped(name: str) -> Scheme:
    path = _SHIPPED / f"{name}.yaml"
    scheme = _read(path)
    if scheme.id != name:
        problem = read_yaml(path).problem(
            ("id",), found=repr(scheme.id), expected=f"{name!r}, the name of the file", code="id"
        )
        raise InputError([problem])
    return scheme


def _read(path: Path) -> Scheme:
    return validate_model(Scheme, read_yaml(path))
