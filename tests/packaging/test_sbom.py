"""The bill of materials is CycloneDX, complete, and the same whenever it is made."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from release.dependencies import run_time_dependencies
from release.licences import refusal
from release.sbom import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "hipo-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hipo/__init__.py", "")
    return path


@pytest.fixture
def written(wheel: Path) -> Path:
    main([str(wheel)])
    return wheel.with_name("hipo-0.1.0.cdx.json")


def test_it_is_what_the_schema_of_cyclonedx_asks_for(written: Path) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(written.read_text()) is None


def test_every_package_is_there_with_version_licence_and_what_it_needs(
    written: Path, wheel: Path
) -> None:
    document = json.loads(written.read_text())
    product = document["metadata"]["component"]
    assert (product["name"], product["version"]) == ("hipo", "0.1.0")
    assert product["hashes"][0]["content"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    parts = {part["name"]: part for part in document["components"]}
    expected = {one.name: one for one in run_time_dependencies(ROOT / "pyproject.toml")}
    assert parts.keys() == expected.keys()
    for name, part in parts.items():
        assert part["version"] == expected[name].distribution.version
        if "licenses" in part:
            assert part["licenses"][0]["expression"]
        else:  # it says none, and stands on the list of those that may
            assert refusal(name, None) == ""
    assert parts["pydantic"]["scope"] == "required"
    assert parts["torch"]["scope"] == "optional"
    graph = {node["ref"]: node["dependsOn"] for node in document["dependencies"]}
    assert graph.keys() == {product["purl"], *(part["purl"] for part in parts.values())}
    assert parts["uvicorn"]["purl"] in graph[product["purl"]]
    assert parts["h11"]["purl"] in graph[parts["uvicorn"]["purl"]]


def test_made_again_it_has_the_same_bytes(written: Path, wheel: Path) -> None:
    before = written.read_bytes()
    written.unlink()
    main([str(wheel)])
    assert written.read_bytes() == before


def test_another_wheel_has_another_serial_number(written: Path, wheel: Path) -> None:
    before = json.loads(written.read_text())["serialNumber"]
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("hipo/more.py", "")
    main([str(wheel)])
    assert json.loads(written.read_text())["serialNumber"] != before
