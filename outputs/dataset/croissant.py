"""Croissant: the machine-readable description of an export, and the check of its hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final

import orjson

from outputs.dataset.card import kinds_of_dialogues
from outputs.dataset.manifest import Column, ColumnKind, ExportedFile, ExportFacts
from prompts.plain_text import one_line
from scenarios.errors import InputError, Problem, UsageError
from scenarios.plural import plural

CROISSANT = "croissant.json"

_VERSION = "http://mlcommons.org/croissant/1.0"
_RESPONSIBLE_AI = "http://mlcommons.org/croissant/RAI/1.0"
_ENCODING = {
    "jsonl": "application/jsonlines", "csv": "text/csv", "parquet": "application/x-parquet",
}  # fmt: skip
_SCALARS: Final[dict[ColumnKind, str]] = {
    "text": "sc:Text",
    "texts": "sc:Text",
    "bool": "sc:Boolean",
    "int": "sc:Integer",
    "float": "sc:Float",
}
_PARTS: Final[dict[ColumnKind, tuple[str, ...]]] = {
    "message": ("role", "content"),
    "messages": ("role", "content"),
    "turn": ("from", "value"),
    "turns": ("from", "value"),
}
_REPEATED: Final[frozenset[ColumnKind]] = frozenset({"texts", "messages", "turns", "records"})
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(facts: ExportFacts) -> dict[str, Any]:
    """Describe an export in Croissant 1.0: every file with its hash, a record set per data file.

    A row that lies there in two formats is described once, in Parquet, since the reference
    implementation guesses the types of JSON lines: digits in quotes become a number. A licence is
    in it only if the publisher chose one; there is no date, since the same run has to give the
    same bytes.
    """
    described: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": one_line(facts.name),
        "description": _description(facts),
        "conformsTo": [_VERSION, _RESPONSIBLE_AI],
    }
    if facts.licence is not None:
        described["license"] = facts.licence
    return {
        **described,
        "inLanguage": sorted(facts.by_language),
        "keywords": [*kinds_of_dialogues(facts), "dialogue", "pragmatics"],
        "rai:dataCollection": _collection(facts),
        "rai:dataUseCases": "Recognising pragmatic tactics in dialogue; comparing labels of models "
        "and people. Not: deceiving people, judging real speakers, decisions about people.",
        "rai:dataLimitations": _limitations(facts),
        "rai:personalSensitiveInformation": _people(facts),
        "distribution": [_file_object(file) for file in facts.files],
        "recordSet": [
            _record_set(name, file)
            for name, file in zip(_record_set_names(facts.primary), facts.primary, strict=True)
        ],
    }


def croissant_bytes(facts: ExportFacts) -> bytes:
    """Return the description as JSON, indented; the same facts give the same bytes."""
    return orjson.dumps(croissant(facts), option=orjson.OPT_INDENT_2) + b"\n"


def check_hashes(folder: Path) -> None:
    """Compare every file that a folder's description names with the file that lies there.

    The reference implementation only does so for files whose records it is made to load.

    Raises:
        UsageError: the folder has no description that can be read.
        InputError: files are missing, differ, or are named by a path that leaves the folder.
    """
    path = folder / CROISSANT
    try:
        described = orjson.loads(path.read_bytes())
        files = [(str(f["contentUrl"]), str(f["sha256"])) for f in described["distribution"]]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path}: cannot be read as a description of files", "export the data anew"
        ) from error
    problems = [
        Problem(str(path), None, name, found, f"SHA-256 {expected}", "export the data anew")
        for name, expected in files
        if (found := _found(folder, name)) != expected
    ]
    if problems:
        raise InputError(problems)


def _found(folder: Path, name: str) -> str:
    """Return the hash of a file of a folder, or what is wrong with it."""
    relative = PurePosixPath(name)
    if relative.is_absolute() or ".." in relative.parts:
        return "a path out of the folder"
    file = folder / relative
    if not file.is_file():
        return "no such file"
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _description(facts: ExportFacts) -> str:
    baseline = (
        " Written in part by built-in rules: a demonstration baseline and no training data."
        if facts.offline_baseline
        else ""
    )
    deception = " Holds deceptive utterances as targets." if facts.includes_deception else ""
    kind = "Synthetic, fictional dialogues with private knowledge"
    if facts.only_imported:
        kind = "Imported dialogues"
    elif facts.imported:
        kind += f" and {plural(facts.imported, 'imported dialogue')}"
    return (
        f"{kind}, labelled after the scheme "
        f"{facts.scheme.id}: {plural(facts.dialogues, 'dialogue')} on {plural(facts.scenarios, 'scenario')}, made "
        f"with hipo {facts.code_version}.{baseline}{deception}"
    )


def _collection(facts: ExportFacts) -> str:
    models = ", ".join(sorted({one_line(made.model) for made in facts.generators}))
    terms = "the terms of use of each apply to its outputs."
    told = []
    if not facts.only_imported:
        told.append(f"Generated by models ({models or 'unknown'}); {terms}")
    elif models:
        told.append(f"Said to be written by {models}; {terms}")
    if facts.imported:
        told.append(
            f"{plural(facts.imported, 'dialogue')} imported from files of others: what is not said"
            " here of who wrote them, and on what terms, is not recorded."
        )
    return " ".join(told)


def _limitations(facts: ExportFacts) -> str:
    told = []
    if not facts.only_imported:
        told.append(
            "Labels are declared by the models that wrote the utterances; "
            "model dialogue is tidier than talk; the library of scenarios is limited."
        )
    if facts.imported:
        told.append("Labels of imported dialogues are those of their files, or what people gave.")
    return " ".join(told)


def _people(facts: ExportFacts) -> str:
    told = []
    if not facts.only_imported:
        where = " in generated dialogues" if facts.imported else ""
        told.append(
            f"Names of the public record occur; words and knowledge ascribed to them{where} are invented."
            if facts.real_names
            else f"None{where}: persons and organisations bear invented names."
        )
    if facts.imported:
        told.append("What imported dialogues hold about people is not known here.")
    return " ".join(told)


def _file_object(file: ExportedFile) -> dict[str, object]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "description": f"{plural(file.rows, 'row')} of the subset {file.subset}, split {file.split}.",
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": _ENCODING[file.format],
        "sha256": file.sha256,
    }


def _record_set_names(files: Sequence[ExportedFile]) -> list[str]:
    """Return ``subset-split`` per file, numbered where a split lies in several files."""
    names = [f"{file.subset}-{file.split}" for file in files]
    return [
        name if names.count(name) == 1 else f"{name}-{names[:at].count(name) + 1}"
        for at, name in enumerate(names)
    ]


def _record_set(name: str, file: ExportedFile) -> dict[str, object]:
    """Describe the rows of one file."""
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"Subset {file.subset}, split {file.split}.",
        "field": [_field(name, file.path, column) for column in file.columns],
    }


def _field(record_set: str, file: str, column: Column) -> dict[str, object]:
    """Describe a column, a structured one by its parts."""
    name = f"{record_set}/{column.name}"
    repeated = {"repeated": True} if column.kind in _REPEATED else {}
    source: dict[str, object] = {
        "fileObject": {"@id": file},
        "extract": {"column": column.name},
    }
    described: dict[str, object] = {
        "@type": "cr:Field",
        "@id": name,
        "name": name,
        "description": column.description,
        **repeated,
    }
    if column.kind in _SCALARS:
        return {**described, "dataType": _SCALARS[column.kind], "source": source}
    parts = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{part}",
            "name": f"{name}/{part}",
            "dataType": data_type,
            **repeated,
            "source": {**source, "transform": {"jsonPath": part}},
        }
        for part, data_type in _parts(column)
    ]
    return {**described, "subField": parts}


def _parts(column: Column) -> list[tuple[str, str]]:
    """Return path and type of every single value in a structured column.

    Lists within records are left out: of such a list the reference implementation reads the first
    entry alone, without a word.
    """
    if column.kind in _PARTS:
        return [(part, "sc:Text") for part in _PARTS[column.kind]]
    parts: list[tuple[str, str]] = []
    for part in column.fields:
        if part.kind in _REPEATED:
            continue
        if part.kind in _SCALARS:
            parts.append((part.name, _SCALARS[part.kind]))
        else:
            parts += [(f"{part.name}.{path}", kind) for path, kind in _parts(part)]
    return parts
