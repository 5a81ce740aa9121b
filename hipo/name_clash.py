"""Find files of the user's that hide packages of ours: a ``prompts.py`` beside their script, say.

Python looks for modules in the folder of the script first. A file ``prompts.py`` or a folder with
an ``__init__.py`` there is found before the package of that name that was installed. A folder
without one does no harm: Python goes on looking.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("scenarios", "prompts", "pipeline", "quality", "outputs")
"""What is installed beside ``hipo`` under names of their own."""


def hiding_file() -> Path | None:
    """Return a file that Python would import in the place of one of our packages, if any."""
    home = Path(__file__).resolve().parent.parent
    for name in PACKAGES:
        try:
            spec = find_spec(name)
        except ValueError:  # a module that was put together by hand
            continue
        if spec is None or spec.origin is None:
            continue
        origin = Path(spec.origin)
        if origin.resolve() != home / name / "__init__.py":
            return origin
    return None


def check_names() -> None:
    """Do nothing where our packages can be imported.

    Raises:
        ImportError: a file of the user's hides one of them; names the file and what to do.
    """
    hiding = hiding_file()
    if hiding is not None:
        package = hiding.parent.name if hiding.name == "__init__.py" else hiding.stem
        raise ImportError(
            f"{hiding} hides the package {package!r} of hipo: rename it, or start the script from "
            "another folder"
        )
