"""``run.yaml``: the recipe of a run, for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson
import yaml

from pipeline.store.reading import RECIPE
from scenarios.atomic_files import write_text
from scenarios.fingerprint import canonical_json

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def write_recipe(folder: Path, recipe: Mapping[str, object]) -> None:
    """Write the recipe as ``run.yaml``, unless it is there; a kill leaves the old one or the new one."""
    plain = orjson.loads(canonical_json(dict(recipe)))
    text = yaml.dump(plain, Dumper=_DUMPER, sort_keys=True, allow_unicode=True)
    path = folder / RECIPE
    if not path.is_file() or path.read_bytes() != text.encode():
        write_text(path, text)
