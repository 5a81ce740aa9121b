"""Everything that is installed with hipo may be used in a product under Apache-2.0."""

from __future__ import annotations

from email.message import Message
from importlib import metadata
from pathlib import Path

import pytest

from release.dependencies import NOT_FOR_USERS, requirements, run_time_dependencies
from release.licences import NAMED, licence_of, refusal

ROOT = Path(__file__).resolve().parents[2]


class Package(metadata.Distribution):
    """A package that is metadata alone."""

    def __init__(self, *, licence_text: str = "", **fields: str | list[str]) -> None:
        self.fields, self.licence_text = fields, licence_text

    @property
    def metadata(self) -> Message:  # type: ignore[override]
        message = Message()
        for name, values in self.fields.items():
            for value in [values] if isinstance(values, str) else values:
                message[name.replace("_", "-")] = value
        return message

    def read_text(self, filename: str) -> str | None:
        return self.licence_text if filename.endswith("LICENSE") else None

    def locate_file(self, path: object) -> Path:
        raise NotImplementedError


def test_no_dependency_is_under_a_copyleft_or_an_unknown_licence() -> None:
    dependencies = run_time_dependencies(ROOT / "pyproject.toml")
    assert len(dependencies) > 50
    refused = [refusal(one.name, licence_of(one.distribution)) for one in dependencies]
    assert [reason for reason in refused if reason] == []


def test_every_extra_for_users_is_looked_at() -> None:
    core, optional = requirements(ROOT / "pyproject.toml")
    names = {requirement.name for requirement in (*core, *optional)}
    assert {"numpy", "torch", "fastapi", "pyarrow", "scipy", "resvg-py"} <= names
    assert {"all", "dev", "quick"} == NOT_FOR_USERS
    assert "krippendorff" not in {
        one.name for one in run_time_dependencies(ROOT / "pyproject.toml")
    }


@pytest.mark.parametrize(
    "licence",
    [
        "GPL-3.0-or-later",
        "AGPL-3.0-only",
        "LGPL-2.1-or-later",
        "MIT AND GPL-2.0-only",
        "GPL-3.0-only OR AGPL-3.0-only",
        "GPL-2.0-only WITH Classpath-exception-2.0",
        "LicenseRef-GNU-General-Public-License-v3-GPLv3",
        "LicenseRef-Proprietary",
        "anything (",
        None,
    ],
)
def test_copyleft_and_what_is_not_known_are_refused(licence: str | None) -> None:
    assert refusal("a-package", licence).startswith("a-package: ")


@pytest.mark.parametrize(
    "licence",
    [
        "MIT",
        "MPL-2.0 AND (Apache-2.0 OR MIT)",
        "MIT OR GPL-3.0-or-later",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1",
    ],
)
def test_permissive_ones_and_choices_are_allowed(licence: str) -> None:
    assert refusal("a-package", licence) == ""


@pytest.mark.parametrize("name", ["nvidia-cublas-cu12", "nvidia-nccl-cu13", "cuda-bindings"])
def test_what_torch_brings_on_machines_with_a_gpu_is_named(name: str) -> None:
    assert refusal(name, "LicenseRef-NVIDIA-Proprietary") == ""
    assert refusal(name, None) == ""
    assert all(len(reason) > 30 for reason in NAMED.values())


@pytest.mark.parametrize(
    ("package", "licence"),
    [
        (Package(License_Expression="MIT", License="GPL"), "MIT"),
        (Package(License="Apache 2.0 License"), "Apache-2.0"),
        (Package(License="MIT OR Apache-2.0"), "MIT OR Apache-2.0"),
        (
            Package(
                License="Copyright and many words more " * 9,
                Classifier=["License :: OSI Approved :: BSD License", "Topic :: Text"],
            ),
            "LicenseRef-BSD",
        ),
        (
            Package(
                Classifier=[
                    "License :: OSI Approved :: MIT License",
                    "License :: OSI Approved :: GNU General Public License v3 (GPLv3)",
                ]
            ),
            "LicenseRef-GNU-General-Public-License-v3-GPLv3 AND MIT",
        ),
        (
            Package(
                License_File="LICENSE",
                licence_text="(c)\n\nPermission is hereby granted, free of\ncharge, to any person"
                " obtaining a\ncopy of this software",
            ),
            "MIT",
        ),
        (
            Package(License_File="LICENSE", licence_text="GNU LESSER GENERAL PUBLIC LICENSE"),
            "LicenseRef-GNU",
        ),
        (Package(licence_text="Apache License\nVersion 2.0, January 2004"), "Apache-2.0"),
        (Package(License="see the web"), None),
        (Package(), None),
    ],
)
def test_the_licence_is_read_from_what_packages_say_of_themselves(
    package: Package, licence: str | None
) -> None:
    assert licence_of(package) == licence
