"""Scenarios of a catalogue with their texts in another language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from scenarios.catalogue import Catalogue, CatalogueEntry
from scenarios.errors import InputError, Problem
from scenarios.languages import is_written_in
from scenarios.located import Located
from scenarios.real_names import with_real_names
from scenarios.wordings import WordingFile


def in_language(
    catalogue: Catalogue,
    language: str,
    wordings: Mapping[tuple[str, str], WordingFile],
    *,
    unreviewed: bool = False,
    real_names: bool = False,
) -> Catalogue:
    """Return a catalogue whose scenarios have the texts of their wordings in a language.

    Scenarios without a wording in it, or that are written in it themselves, stay as they are.

    Args:
        catalogue: as scenarios are written.
        language: BCP 47.
        wordings: by scenario and language.
        unreviewed: whether wordings are used that nobody has read.
        real_names: whether placeholders are filled with real names.

    Raises:
        InputError: a wording does not fit its scenario, or nobody has read it; names all of them.
    """
    entries: dict[str, CatalogueEntry] = dict(catalogue.entries)
    problems: list[Problem] = []
    for name, entry in catalogue.entries.items():
        file = wordings.get((name, language))
        if file is None or is_written_in(entry.template, language):
            continue
        if not (unreviewed or file.wording.reviewed):
            problems.append(_unread(file))
            continue
        try:
            template = file.applied(entry.template)
        except InputError as error:
            problems += error.problems
            continue
        scenario, left_out = with_real_names(template) if real_names else (template.named(), ())
        located = Located(template.model_dump(mode="json"), file.located.file)
        # It is checked like a file of the user's, though the original may ship.
        entries[name] = replace(
            entry, scenario=scenario, template=template, located=located, shipped=False,
            left_out=left_out,
        )  # fmt: skip
    if problems:
        raise InputError(problems)
    return Catalogue(MappingProxyType(entries))


def _unread(file: WordingFile) -> Problem:
    return file.located.problem(
        ("reviewed",),
        found="nobody",
        expected="the name of a person who has read every text",
        hint="read and mend the texts and put your name there, or use them as they are with"
        " --unreviewed",
    )
