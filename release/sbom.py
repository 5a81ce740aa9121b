"""Write a bill of materials (CycloneDX 1.6, JSON) beside a built wheel.

    python -m release.sbom dist/hipo-0.1.0-py3-none-any.whl

It lists what this environment has of everything that hipo or one of its extras needs, so it is made
in the development environment that ``constraints.txt`` pins. The same wheel in the same environment
gives the same bytes: there is no date in it, and its serial number is derived from its content.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.utils import parse_wheel_filename

from release.dependencies import Dependency, normalised, requirements, run_time_dependencies
from release.licences import licence_of

ROOT = Path(__file__).resolve().parents[1]
LICENCE = "Apache-2.0"


def bill_of_materials(
    wheel: Path, dependencies: Sequence[Dependency], direct: Sequence[str]
) -> dict[str, Any]:
    """Return the document for a wheel.

    Args:
        wheel: the built file; its name says name and version.
        dependencies: everything that is installed with it or with one of its extras.
        direct: names of what it needs itself.
    """
    name, version, _, _ = parse_wheel_filename(wheel.name)
    product = {
        "type": "application",
        "bom-ref": _purl(name, str(version)),
        "name": name,
        "version": str(version),
        "purl": _purl(name, str(version)),
        "licenses": [{"expression": LICENCE}],
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}],
    }
    refs = {one.name: _purl(one.name, one.distribution.version) for one in dependencies}
    graph = [{"ref": product["bom-ref"], "dependsOn": sorted(refs[need] for need in direct)}]
    graph += [
        {"ref": refs[one.name], "dependsOn": [refs[need] for need in one.requires]}
        for one in dependencies
    ]
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": product},
        "components": [_component(one) for one in dependencies],
        "dependencies": graph,
    }
    mark = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return {**content, "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, mark).urn}


def _component(one: Dependency) -> dict[str, Any]:
    licence = licence_of(one.distribution)
    return {
        "type": "library",
        "bom-ref": _purl(one.name, one.distribution.version),
        "name": one.name,
        "version": one.distribution.version,
        "purl": _purl(one.name, one.distribution.version),
        "scope": "optional" if one.optional else "required",
        **({"licenses": [{"expression": licence}]} if licence else {}),
    }


def _purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{quote(version)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file beside the wheel and print its path."""
    parser = argparse.ArgumentParser(prog="python -m release.sbom", description=__doc__)
    parser.add_argument("wheel", type=Path)
    wheel: Path = parser.parse_args(arguments).wheel
    pyproject = ROOT / "pyproject.toml"
    core, optional = requirements(pyproject)
    direct = sorted({normalised(requirement.name) for requirement in (*core, *optional)})
    document = bill_of_materials(wheel, run_time_dependencies(pyproject), direct)
    name, version, _, _ = parse_wheel_filename(wheel.name)
    path = wheel.with_name(f"{name}-{version}.cdx.json")
    path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
