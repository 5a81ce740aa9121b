"""Say how much more is wrong with folders of scenarios than what stopped a command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scenarios.errors import InputError
from scenarios.inspection import inspect_files
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import scheme_names
from scenarios.text_file import shown_path, typed_path


def with_what_else_is_wrong(
    error: InputError, dirs: Sequence[Path], scheme: Scheme, scheme_name: str
) -> InputError:
    """Return the error with how many more problems ``hipo scenarios validate`` shows, if any.

    Args:
        error: problems of scenario files.
        dirs: the folders that were named.
        scheme: what their scenarios are checked against.
        scheme_name: how it was named.
    """
    if not dirs:
        return error
    own = None if scheme_name in scheme_names() else scheme
    told = {(problem.file, problem.line, problem.found) for problem in error.problems}
    found = inspect_files(dirs, beside=dirs, scheme=own)
    more = sum((problem.file, problem.line, problem.found) not in told for problem in found.errors)
    if not more:
        return error
    warnings = len(found.warnings)
    option = "" if own is None else f" --scheme {typed_path(scheme_name)}"
    packs = " ".join(typed_path(shown_path(path)) for path in dirs)
    command = f"hipo scenarios validate {packs}{option}"
    shows = f"shows {more} more problem{'s' if more > 1 else ''}"
    if warnings:
        shows += f" and {warnings} warning{'s' if warnings > 1 else ''}"
    return InputError(error.problems, f"{command} {shows}")
