"""Versions of dependencies that are known not to do are not allowed."""

from __future__ import annotations

import tomllib

import pytest
from packaging.requirements import Requirement

from tests.packaging.conftest import ROOT


@pytest.mark.parametrize(
    ("package", "broken", "sound"),
    [
        ("pydantic", "2.13.0", "2.12.0"),  # no stored scenario can be read
        ("pydantic", "2.13.0", "2.13.1"),
        ("transformers", "5.17.0", "5.18.0"),  # no GGUF file whose tokens lack a first one
    ],
)
def test_a_version_with_which_hipo_fails_is_not_installed(
    package: str, broken: str, sound: str
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [project["dependencies"], *project["optional-dependencies"].values()]
    bounds = [Requirement(line) for extra in lines for line in extra]
    found = [bound.specifier for bound in bounds if bound.name == package]
    assert found
    assert not any(bound.contains(broken) for bound in found)
    assert all(bound.contains(sound) for bound in found)
