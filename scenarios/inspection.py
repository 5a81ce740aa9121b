"""Inspect scenario files and collect every problem of every file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from scenarios.checks.alike_scenarios import PlacedScenario, check_alike
from scenarios.checks.references import check_references
from scenarios.errors import InputError, Problem, UsageError
from scenarios.located import Located
from scenarios.pack import (
    FAMILIES,
    LIBRARY,
    SchemeFound,
    check_place,
    id_clash,
    is_for_examples,
    named_root,
    read_scenario,
    scenario_files,
)
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme, scheme_names
from scenarios.spec import Scenario
from scenarios.spelling import suggestion
from scenarios.text_file import real_path, shown_path
from scenarios.validation import Similarity, check_scenario
from scenarios.yaml_source import validate_model

ScenarioCheck = Callable[[Scenario, Located], Iterable[Problem]]
"""A check that needs what is not known here, such as which verifiers there are."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was inspected, and what is wrong with it."""

    files: int
    problems: tuple[Problem, ...]
    """Errors and warnings, in the order of the files and of their lines."""
    passed_over: tuple[Path, ...] = ()
    """Files beside them of the other kind (label schemes, scenarios), which were not checked."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep a scenario from being used."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that do not."""
        return tuple(problem for problem in self.problems if problem.severity == "warning")


def inspect_files(
    roots: Sequence[Path],
    *,
    beside: Sequence[Path] = (),
    scheme: Scheme | None = None,
    similarity: Similarity | None = None,
    library: Path = LIBRARY,
    checks: Sequence[ScenarioCheck] = (),
) -> Inspection:
    """Check the scenarios under the given roots, each file once; label schemes beside them are named.

    Args:
        roots: directories and single files; ``library-plus`` is the pack of that name.
        beside: directories and files whose scenarios are in use beside these: ids must not clash.
        scheme: what every scenario must be of; None checks each against the scheme it names.
        similarity: compares meanings, where an embedding model is at hand.
        library: the directory that is held to what the library that ships must keep to.
        checks: further ones, of scenarios whose scheme is known.

    Raises:
        UsageError: a root does not exist, or there is no file under any.
    """
    inspector = _Inspector(scheme, similarity, library.resolve(), tuple(checks))
    roots, beside = [*map(named_root, roots)], [*map(named_root, beside)]
    inspector.taken = _names_under([library, FAMILIES, *beside])
    problems: dict[Path, list[Problem]] = {}
    for root in roots:
        for path in scenario_files(root):
            real = real_path(path)
            if real in problems or real in inspector.schemes:
                continue
            found = inspector.file(path, root, real)
            if real not in inspector.schemes:
                problems[real] = found
    if not problems:
        where = ", ".join(shown_path(root) for root in roots)
        raise UsageError(
            f"there is no scenario under {where}", "scenarios are files ending in .yaml"
        )
    for real, problem in inspector.alike([library, FAMILIES, *beside]):
        problems[real].append(problem)
    in_order = (sorted(found, key=lambda problem: problem.line or 0) for found in problems.values())
    every = tuple(chain.from_iterable(in_order))
    return Inspection(len(problems), every, tuple(inspector.schemes.values()))


def inspect_draft(
    located: Located, path: Path, folder: Path, scheme: Scheme | None
) -> list[Problem]:
    """Return what is wrong with a scenario that is not saved yet, in the order of its lines.

    Args:
        located: what it holds.
        path: the file it is to be.
        folder: of scenarios in use beside it, and beside all that ships.
        scheme: what it is checked against; None is one that ships, by its name.
    """
    inspector = _Inspector(scheme, None, LIBRARY.resolve())
    roots = [LIBRARY, FAMILIES, folder]
    inspector.taken = {n: p for n, p in _names_under(roots).items() if real_path(p) != path}
    try:
        scenario = validate_model(Scenario, located)
    except InputError as error:
        return list(error.problems)
    inspector.read[path] = PlacedScenario(scenario, located)
    problems = inspector.problems(scenario, located, path, path)
    problems += [problem for _, problem in inspector.alike(roots)]
    return sorted(problems, key=lambda problem: problem.line or 0)


def _names_under(roots: Sequence[Path]) -> dict[str, Path]:
    """Return the ids that are taken, by the names of the files: a valid one is called as its id."""
    taken: dict[str, Path] = {}
    for root in roots:
        for path in scenario_files(root):
            taken.setdefault(path.stem, path)
    return taken


@dataclass
class _Inspector:
    scheme: Scheme | None
    similarity: Similarity | None
    library: Path
    checks: tuple[ScenarioCheck, ...] = ()
    taken: dict[str, Path] = field(default_factory=dict)
    read: dict[Path, PlacedScenario] = field(default_factory=dict)
    schemes: dict[Path, Path] = field(default_factory=dict)
    """Label schemes in folders of scenarios, by their real path."""

    def file(self, path: Path, root: Path, real: Path) -> list[Problem]:
        """Return the problems of one file."""
        try:
            scenario, located = read_scenario(path, root)
        except SchemeFound as error:
            if root.is_file():
                return list(error.problems)
            self.schemes[real] = path
            return []
        except InputError as error:
            return list(error.problems)
        self.read[real] = PlacedScenario(scenario, located)
        return self.problems(scenario, located, path, real)

    def problems(
        self, scenario: Scenario, located: Located, path: Path, real: Path
    ) -> list[Problem]:
        """Return the problems of a scenario that has the form of one."""
        packs = (self.library, FAMILIES)
        shipped = any(real.is_relative_to(pack) for pack in packs) or is_for_examples(real)
        problems = [*check_place(scenario, located, path, shipped=shipped)]
        problems += self._clash(scenario, located, path, real)
        scheme = self.scheme
        if scheme is None and scenario.scheme in scheme_names():
            scheme = load_scheme(scenario.scheme)
        if scheme is None or scheme.id != scenario.scheme:
            problems += [_other_scheme(scenario, located, self.scheme)]
            return [*problems, *check_references(scenario, located)]
        problems += check_scenario(scenario, scheme, located, self.similarity, shipped=shipped)
        if not shipped:  # a test checks what ships; the guesser takes a second to load
            from scenarios.checks.other_language import check_other_language  # noqa: PLC0415 - as said

            problems += check_other_language(scenario, located)
        return problems + [found for check in self.checks for found in check(scenario, located)]

    def alike(self, beside: Sequence[Path]) -> Iterator[tuple[Path, Problem]]:
        """Yield files whose scenario another one tells, too, of those read or those beside them."""
        together = dict(self.read)
        for root in beside:
            for path in scenario_files(root):
                real = real_path(path)
                if real not in together:
                    with suppress(InputError):  # told where that file is checked
                        scenario, located = read_scenario(path, root)
                        together[real] = PlacedScenario(scenario, located, checked=False)
        files = list(together)
        for index, problem in check_alike(list(together.values()), self.similarity):
            yield files[index], problem

    def _clash(
        self, scenario: Scenario, located: Located, path: Path, real: Path
    ) -> Iterator[Problem]:
        other = self.taken.setdefault(scenario.id, path)
        if real_path(other) != real:
            yield id_clash(scenario, located, shown_path(other))


def _other_scheme(scenario: Scenario, located: Located, scheme: Scheme | None) -> Problem:
    """Return the problem of a scenario that cannot be checked against the scheme it names."""
    known: Collection[str] = scheme_names()
    if scheme is None:
        expected = "a scheme that ships"
        there = suggestion(scenario.scheme, known, listing="schemes")
        hint = f"{there}; give --scheme FILE for one of your own"
    else:
        expected, hint = f"{scheme.id!r}, the scheme in use", ""
    return located.problem(
        ("scheme",), found=repr(scenario.scheme), expected=expected, hint=hint, code="scheme"
    )
