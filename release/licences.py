"""Under what licence a package is, by its metadata, and whether hipo may depend on it."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from functools import cache
from importlib import metadata

from license_expression import (
    AND,
    OR,
    ExpressionError,
    LicenseWithExceptionSymbol,
    Licensing,
    get_spdx_licensing,
)

PERMISSIVE = frozenset(
    [
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "CNRI-Python",
        "HPND",
        "ISC",
        "LicenseRef-BSD",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "PSF-2.0",
        "Python-2.0",
        "Unlicense",
        "Zlib",
    ]
)
FILE_COPYLEFT = frozenset({"MPL-2.0"})
"""Asks for the source of its own files where somebody changes them, and of nothing else; hipo changes
none. The LGPL asks for more (that users can replace the library), so it has to be named below."""
LIFTING = frozenset({"GCC-exception-3.1", "LLVM-exception"})
"""Exceptions that free programs from the licence of a compiler's run-time library inside them."""
NAMED = {
    "nvidia-*": "libraries of CUDA that the plain torch for Linux brings: proprietary, free to use and to"
    " redistribute with an application, no copyleft; hipo neither imports nor ships them",
    "cuda-*": "bindings to CUDA that the plain torch for Linux brings: as for nvidia-*",
}
"""Patterns of packages that are let through whatever their licence says, with the reason."""

_SPDX = {
    "apache 2.0": "Apache-2.0",
    "apache 2.0 license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "2-clause bsd": "BSD-2-Clause",
    "3-clause bsd": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "bsd": "LicenseRef-BSD",
    "bsd license": "LicenseRef-BSD",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
}
_TEXTS = (
    (r"gnu (lesser |affero )?general public license", "LicenseRef-GNU"),
    (r"mozilla public license,? version 2\.0", "MPL-2.0"),
    (r"apache license,? version 2\.0", "Apache-2.0"),
    (r"permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"),
)


def licence_of(package: metadata.Distribution) -> str | None:
    """Return the licence a package declares as an SPDX expression; None where it cannot be told.

    What stands first counts: ``License-Expression``, a short ``License``, the classifiers (all of
    them, as nobody says whether they mean "and" or "or"), the text of the licence file.
    """
    fields = package.metadata
    expression = _field(fields, "License-Expression") or _spdx(_field(fields, "License"))
    if expression:
        return expression
    classifiers = [
        line.rpartition("::")[2].strip()
        for line in fields.get_all("Classifier") or ()
        if line.startswith("License ::") and line != "License :: OSI Approved"
    ]
    if classifiers:
        return " AND ".join(sorted({_spdx(text) or _reference(text) for text in classifiers}))
    return _by_text(package)


def refusal(name: str, licence: str | None) -> str:
    """Return why hipo may not depend on a package under a licence; empty if it may."""
    if any(fnmatch(name, pattern) for pattern in NAMED):
        return ""
    if licence is None:
        return f"{name}: no licence can be told from its metadata"
    try:
        tree = _licensing().parse(licence)
    except ExpressionError as error:
        return f"{name}: {licence!r} is no licence expression: {error}"
    return "" if _is_allowed(tree) else f"{name}: {licence} is not permissive"


def _is_allowed(tree: object) -> bool:
    if isinstance(tree, AND):
        return all(map(_is_allowed, tree.args))
    if isinstance(tree, OR):
        return any(map(_is_allowed, tree.args))
    if isinstance(tree, LicenseWithExceptionSymbol):
        return tree.exception_symbol.key in LIFTING or _is_allowed(tree.license_symbol)
    return getattr(tree, "key", "") in PERMISSIVE | FILE_COPYLEFT


def _field(fields: metadata.PackageMetadata, name: str) -> str:
    return fields[name] if name in fields else ""  # noqa: SIM401 - its type has no get


def _spdx(text: str) -> str | None:
    """Return the expression that a short text means, if it is known."""
    if len(text) > 100 or not text.strip():
        return None
    known = _SPDX.get(" ".join(text.lower().split()))
    if known:
        return known
    try:
        _licensing().parse(text, validate=True, strict=True)
    except ExpressionError:
        return None
    return text.strip()


def _reference(text: str) -> str:
    return "LicenseRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-")


def _by_text(package: metadata.Distribution) -> str | None:
    # Metadata before version 2.4 do not name the file.
    for name in package.metadata.get_all("License-File") or ("LICENSE",):
        text = package.read_text(f"licenses/{name}") or package.read_text(name) or ""
        words = " ".join(text.lower().split())
        for pattern, spdx in _TEXTS:
            if re.search(pattern, words):
                return spdx
    return None


@cache
def _licensing() -> Licensing:
    return get_spdx_licensing()
