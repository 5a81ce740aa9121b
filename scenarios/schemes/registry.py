"""Find a scheme: a shipped one by id or by id and version (``hipo@1``), or any by its file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from scenarios.errors import InputError, UsageError
from scenarios.schemes.model import Scheme
from scenarios.spelling import suggestion
from scenarios.yaml_source import read_yaml, validate_model

_SHIPPED = Path(__file__).parent / "data"


def scheme_names() -> list[str]:
    """Return the names of the schemes that ship, sorted: ids, and earlier versions as ``id@1``."""
    return sorted(path.stem for path in shipped_files())


def shipped_files() -> list[Path]:
    """Return the files of the schemes that ship, in the order of their names."""
    return sorted(_SHIPPED.glob("*.yaml"))


def is_shipped(path: Path) -> bool:
    """Return whether a file is one of the schemes that ship."""
    return path.resolve().parent == _SHIPPED.resolve()


def versions_of(name: str) -> tuple[Scheme, ...]:
    """Return every version of a scheme that ships, the newest first; none of an unknown one.

    Args:
        name: an id, with or without a version.
    """
    scheme_id = name.partition("@")[0]
    names = [name for name in scheme_names() if name.partition("@")[0] == scheme_id]
    found = [_shipped(name) for name in names]
    return tuple(sorted(found, key=lambda scheme: -scheme.version))


def load_scheme(name_or_path: str) -> Scheme:
    """Load a scheme by its shipped id, or from a path that ends in ``.yaml``, ``.yml`` or ``.json``.

    An id alone is the newest version; ``id@version`` is exactly that one.

    Raises:
        UsageError: no scheme has this name.
        InputError: the file is not a scheme.
    """
    if name_or_path in scheme_names():
        return _shipped(name_or_path)
    for scheme in versions_of(name_or_path):
        if scheme.name == name_or_path:
            return scheme
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml", ".json") or len(path.parts) > 1:
        return _read(path)
    raise UsageError(
        f"unknown scheme {name_or_path!r}",
        suggestion(name_or_path, scheme_names(), listing="schemes")
        + "; a file of your own is given by its path, e.g. ./my_scheme.yaml",
    )


def as_shipped(scheme: Scheme) -> Scheme:
    """Return the scheme that ships with the same labels, else the scheme itself.

    It differs at most in what only readers are asked, so that judges are asked the same about the
    dialogues of runs that were made before such dimensions were part of a scheme.
    """
    same = (s for s in versions_of(scheme.id) if s.fingerprint == scheme.fingerprint)
    return next(same, scheme)


@cache
def _shipped(name: str) -> Scheme:
    path = _SHIPPED / f"{name}.yaml"
    scheme = _read(path)
    if name not in (scheme.id, scheme.name):
        problem = read_yaml(path).problem(
            ("id",), found=repr(scheme.id), expected=f"{name!r}, the name of the file", code="id"
        )
        raise InputError([problem])
    return scheme


def _read(path: Path) -> Scheme:
    return validate_model(Scheme, read_yaml(path))
