"""The folder that is written to: its files, what is wrong with a draft of one, and saving it."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from quality.derived import check_derived
from scenarios.atomic_files import write_text
from scenarios.errors import InputError, Problem, UsageError
from scenarios.fingerprint import content_id
from scenarios.graph import KnowledgeGraph
from scenarios.graph_drawing import to_svg
from scenarios.inspection import inspect_draft
from scenarios.pack import scenario_files
from scenarios.scaffold import new_scenario
from scenarios.scheme_inspection import inspect_scheme
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme, scheme_names
from scenarios.schemes.scaffold import new_scheme
from scenarios.spec import Scenario
from scenarios.text_file import MAX_BYTES, read_text, real_path
from scenarios.yaml_merge import merged_yaml
from scenarios.yaml_source import read_yaml_text, validate_model

Kind = Literal["scenario", "scheme"]
PlayDraft = Callable[[str, str, Scheme], list[dict[str, Any]]]
"""Plays a dialogue for each goal of a draft: its text, its id, and its scheme."""
_FIELDS: Mapping[Kind, str] = {
    "scenario": "'background' and not 'dimensions'",
    "scheme": "'dimensions'",
}
"""By what fields a file of each kind is known."""


class ChangedMeanwhile(UsageError):
    """Somebody else has written the file since it was opened."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file as it is on disk."""

    name: str
    """Its path below the folder."""
    kind: Kind
    data: dict[str, Any]
    version: str
    """Changes with its text."""


class AuthoringDesk:
    """Opens, checks and saves the YAML files of one folder, and nothing outside of it."""

    def __init__(self, folder: Path, play: PlayDraft, model: str, price: str) -> None:
        """Take the folder, and what plays previews by a model at a price, in words."""
        self.folder = real_path(folder)
        self.play = play
        self.model = model
        self.price = price
        self._writing = threading.Lock()

    def files(self) -> dict[str, Kind | None]:
        """Return the YAML files below the folder by name; None for what is neither kind.

        What no page can name, since its name is not in UTF-8, is neither.
        """
        if not self.folder.exists():
            return {}
        found: dict[str, Kind | None] = {}
        for path in scenario_files(self.folder):
            if real_path(path).is_relative_to(self.folder):
                name = path.relative_to(self.folder).as_posix()
                shown = as_utf8(name)
                found[shown] = self._kind(path) if shown == name else None
        return found

    def schemes(self) -> dict[str, Scheme]:
        """Return the schemes that ship, by name, and the valid ones of the folder, by id."""
        found = {name: load_scheme(name) for name in scheme_names()}
        for name, kind in self.files().items():
            if kind == "scheme":
                try:
                    scheme = load_scheme(str(self.folder / name))
                except UsageError:
                    continue
                found.setdefault(scheme.id, scheme)
        return found

    def open(self, name: str) -> OpenedFile:
        """Return a file of the folder.

        Raises:
            UsageError: there is no such file, or it is neither scenario nor scheme.
            InputError: it is no plain YAML.
        """
        path = self._path(name)
        text = read_text(path, within=self.folder)
        data = read_yaml_text(text, name).data
        kind = _kind_of(data)
        if kind is None or not isinstance(data, dict):
            raise UsageError(f"{name} is neither a scenario nor a scheme", "edit it as a text")
        return OpenedFile(name, kind, data, content_id(text))

    def begin(self, kind: str, file_id: str, scheme: str = "hipo", *, flow: bool = False) -> str:
        """Write a new file from the template and return its name; nothing is written over.

        Raises:
            UsageError: the id cannot be one or is taken, or there is no such scheme.
        """
        if kind == "scheme":
            text = new_scheme(file_id, flow=flow)
            taken = file_id in {name.partition("@")[0] for name in scheme_names()}
        else:
            schemes = self.schemes()
            if scheme not in schemes:
                raise UsageError(f"there is no scheme {scheme!r}")
            text, taken = new_scenario(file_id, schemes[scheme]), False
        path = self.folder / f"{file_id}.yaml"
        with self._alone():
            if taken or path.exists() or path.is_symlink():
                raise UsageError(f"there is a {kind} {file_id!r} already", "take another id")
            write_text(path, text)
        return path.name

    def check(self, name: str, data: Mapping[str, Any]) -> tuple[list[Problem], str]:
        """Return what is wrong with a draft of a file, as validation says it, and its text."""
        path = self._path(name)
        text = merged_yaml(read_text(path, within=self.folder), data, name)
        located = read_yaml_text(text, name)
        if _kind_of(data) == "scheme":
            return list(inspect_scheme(located, path, [check_derived])), text
        own = self.schemes().get(str(data.get("scheme", "hipo")))
        return inspect_draft(located, path, self.folder, own), text

    def save(self, name: str, data: Mapping[str, Any], version: str) -> str:
        """Write a draft as a whole and return the new version.

        Of several drafts of one version the first is written.

        Raises:
            ChangedMeanwhile: the file is not what was opened.
            UsageError: it cannot be written, or lies outside of the folder; the draft could not be
                opened again, or is of another kind than the file.
        """
        path = self._path(name)
        with self._alone():
            before = read_text(path, within=self.folder)
            if content_id(before) != version:
                raise ChangedMeanwhile(
                    f"{name} was changed by somebody else since you opened it", "reload the page"
                )
            _check_kind(name, _kind_of(read_yaml_text(before, name).data), data)
            text = merged_yaml(before, data, name)
            if len(text.encode()) > MAX_BYTES:
                raise UsageError(
                    f"{name} would have more than {MAX_BYTES >> 20} MiB, and could not be opened"
                    " again",
                    "shorten it",
                )
            write_text(path, text)
        return content_id(text)

    def drawing(self, name: str, data: Mapping[str, Any]) -> str:
        """Return the knowledge graph of a draft as SVG.

        Raises:
            InputError: it is no scenario yet.
            UsageError: it names a fact or a claim that it does not have.
        """
        _, text = self.check(name, data)
        scenario = validate_model(Scenario, read_yaml_text(text, name))
        try:
            graph = KnowledgeGraph.of(scenario.named())
        except KeyError as error:
            kind, _, missing = str(error.args[0]).partition(":")
            raise UsageError(
                f"the draft has no {kind} {missing!r}, and names it",
                f"add the {kind}, or choose another one where it is named",
            ) from None
        return to_svg(graph)

    def preview(self, name: str, data: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Play a dialogue for each goal of a draft; nothing is kept.

        Raises:
            UsageError: it is no scenario of a known scheme, or has errors; the model cannot play.
        """
        problems, text = self.check(name, data)
        errors = [problem for problem in problems if problem.severity == "error"]
        if errors:
            count = f"{len(errors)} error{'s' if len(errors) > 1 else ''}"
            raise UsageError(f"the draft has {count}", f"the first: {errors[0]}")
        scheme = self.schemes()[str(data.get("scheme", "hipo"))]
        return self.play(text, str(data["id"]), scheme)

    def _path(self, name: str) -> Path:
        """Return a listed file, links followed: nothing else is ever read or written."""
        if name not in self.files():
            raise UsageError(f"there is no file {name!r} in this folder")
        path = real_path(self.folder / name)
        if not path.is_relative_to(self.folder):
            raise UsageError(f"{name!r} leads out of this folder")
        return path

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let nobody else save or begin a file, here or in another process that serves the folder.

        Where the folder cannot be locked, or is not there yet, other processes are not kept away.
        """
        with self._writing:
            folder = -1
            with suppress(OSError):
                folder = os.open(self.folder, os.O_RDONLY | os.O_CLOEXEC)
                fcntl.flock(folder, fcntl.LOCK_EX)
            try:
                yield
            finally:
                if folder >= 0:
                    os.close(folder)

    def _kind(self, path: Path) -> Kind | None:
        try:
            return _kind_of(read_yaml_text(read_text(path, within=self.folder), path.name).data)
        except InputError:
            return None


def as_utf8(text: str) -> str:
    """Return a text as it can be sent: what is no character (half of one, a byte) is spelled out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _check_kind(name: str, kind: Kind | None, data: Mapping[str, Any]) -> None:
    """Do nothing where a draft is of the kind that the file is.

    Raises:
        UsageError: it is not, or the file is of neither kind.
    """
    if kind is None:
        raise UsageError(f"{name} is neither a scenario nor a scheme", "edit it as a text")
    if _kind_of(data) != kind:
        raise UsageError(
            f"{name} is a {kind}, and this draft is not", f"a {kind} has {_FIELDS[kind]}"
        )


def _kind_of(data: object) -> Kind | None:
    if not isinstance(data, Mapping):
        return None
    return "scheme" if "dimensions" in data else "scenario" if "background" in data else None
