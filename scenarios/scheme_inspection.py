"""Inspect scheme files and collect every problem of every file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from scenarios.checks.left_texts import check_left_scheme_texts
from scenarios.errors import InputError, Problem, UsageError
from scenarios.inspection import Inspection
from scenarios.located import Located, shortened
from scenarios.pack import scenario_files
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import is_shipped, scheme_names, shipped_files
from scenarios.text_file import real_path, shown_path
from scenarios.yaml_source import read_yaml, validate_model

_SCENARIO = "scenario"
"""The code of the problem that a file is a scenario."""
SchemeCheck = Callable[[Scheme, Located], Iterable[Problem]]
"""A check that needs what is not known here, such as which functions there are."""


def inspect_schemes(roots: Sequence[Path] = (), checks: Sequence[SchemeCheck] = ()) -> Inspection:
    """Check scheme files, each once; scenarios beside them in a folder are named.

    Args:
        roots: files, and folders with everything below them; none: the schemes that ship.
        checks: further ones.

    Raises:
        UsageError: a root does not exist, or there is no file under any.
    """
    paths = [path for root in roots for path in scenario_files(root, "schemes")] or (
        [] if roots else shipped_files()
    )
    files = {real_path(path): path for path in paths}
    named = {real_path(root) for root in roots if root.is_file()}
    problems: list[Problem] = []
    passed_over: list[Path] = []
    for real, path in files.items():
        found = list(_of_file(path, checks))
        if real not in named and any(problem.code == _SCENARIO for problem in found):
            passed_over.append(path)
        else:
            problems += sorted(found, key=lambda problem: problem.line or 0)
    if len(files) == len(passed_over):
        where = ", ".join(shown_path(root) for root in roots)
        raise UsageError(f"there is no scheme under {where}", "schemes are files ending in .yaml")
    return Inspection(len(files) - len(passed_over), tuple(problems), tuple(passed_over))


def inspect_scheme(
    located: Located, path: Path, checks: Sequence[SchemeCheck] = ()
) -> Iterator[Problem]:
    """Yield what is wrong with the scheme that a file holds.

    Args:
        located: what was read.
        path: the file it is of, or is to be.
        checks: further ones.
    """
    try:
        scheme = validate_model(Scheme, located)
    except InputError as error:
        yield from error.problems
        return
    yield from _check_scheme(scheme, located)
    for check in checks:
        yield from check(scheme, located)
    if not is_shipped(path):
        yield from _name(scheme, located, path)
        yield from check_left_scheme_texts(located)


def _of_file(path: Path, checks: Sequence[SchemeCheck]) -> Iterator[Problem]:
    try:
        located = read_yaml(path)
    except InputError as error:
        yield from error.problems
        return
    data = located.data
    if isinstance(data, dict) and "background" in data and "dimensions" not in data:
        yield located.problem(
            ("background",),
            found="a scenario",
            expected="a label scheme",
            hint="hipo scenarios validate checks it",
            code=_SCENARIO,
        )
    else:
        yield from inspect_scheme(located, path, checks)


def _name(scheme: Scheme, located: Located, path: Path) -> Iterator[Problem]:
    """Warn of an id that another scheme has, or that is not the name of the file."""
    if scheme.id in {name.partition("@")[0] for name in scheme_names()}:
        yield located.problem(
            ("id",),
            found=f"{scheme.id!r}, which is a scheme that ships",
            expected="an id of its own",
            hint="scenarios, runs and data sets name a scheme by its id",
            code="id-clash",
            severity="warning",
        )
    elif scheme.id != path.stem:
        yield located.problem(
            ("id",),
            found=repr(scheme.id),
            expected=f"{path.stem!r}, the name of the file",
            hint="rename the one or the other",
            code="id",
            severity="warning",
        )


def _check_scheme(scheme: Scheme, located: Located) -> Iterator[Problem]:
    """Warn of definitions that say the same, and of a scheme that labels nothing that is said."""
    if all(dimension.id == scheme.assigned for dimension in scheme.dimensions):
        yield located.problem(
            ("dimensions",),
            found="no dimension but the assigned one",
            expected="at least one more: nothing that is said would be labelled",
            hint="add a dimension of level utterance",
            code="nothing-labelled",
            severity="warning",
        )
    for number, dimension in enumerate(scheme.dimensions):
        seen: dict[str, str] = {}
        for index, label in enumerate(dimension.labels):
            told = " ".join(label.definition.casefold().split())
            if told in seen:
                yield located.problem(
                    ("dimensions", number, "labels", index, "definition"),
                    found=f"the definition of {seen[told]!r} again ({shortened(label.definition)})",
                    expected="definitions that tell labels apart",
                    code="same-definition",
                    severity="warning",
                )
            seen.setdefault(told, label.id)
