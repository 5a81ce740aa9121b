"""Write ``examples/first_hours/*.sh``: the commands of each tutorial as a script that runs alone.

``python docs/generate_first_hours.py`` writes them; a test compares them with what would be written.
A block of a page that names a package (```` ```sh trl````) is skipped where that is missing.
"""

from __future__ import annotations

import re
from pathlib import Path

TUTORIALS = Path(__file__).with_name("tutorials")
SCRIPTS = Path(__file__).parents[1] / "examples" / "first_hours"
HEAD = """#!/bin/sh
# {title}.
#
# Every command of docs/tutorials/{page}, from which docs/generate_first_hours.py writes this
# file. It needs hipo and python on the path, and fills the folder it is started in. Each line is
# printed before what it prints.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="${{here%/*/*}}"  # programs of the clone take parts in it
export OPENAI_API_KEY="${{OPENAI_API_KEY:-none}}"  # to estimate, a key must be there; none is sent
trap 'if [ -e endpoint.pid ]; then kill "$(cat endpoint.pid)" || true; fi' EXIT
set -v
"""
PART = re.compile(
    r"^## (?P<heading>[^\n]+)$|^```sh ?(?P<package>\w*)\n(?P<lines>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
SERVED = re.compile(r"^(?=hipo (?:author|view|review serve) )", re.MULTILINE)
"""Before commands that serve a page until they are interrupted."""
NEEDED = """if python -c "import importlib.util as i; raise SystemExit(not i.find_spec('{package}'))"; then
{lines}else
    echo "skipped: no {package} here (pip install 'hipo[train]')"
fi
"""


def script(page: Path) -> str:
    """Return the script of a tutorial."""
    text = page.read_text(encoding="utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    parts = [HEAD.format(title=title, page=page.name)]
    for part in PART.finditer(text):
        if part["heading"]:
            parts.append(f"\n# == {part['heading']}\n")
            continue
        lines = SERVED.sub('python "$here/visitor.py" ', part["lines"])
        lines = re.sub(r"examples/first_hours/(\w+\.py)", r'"$here/\1"', lines)
        if part["package"]:
            indented = re.sub(r"^", "    ", lines, flags=re.MULTILINE).rstrip(" ")
            lines = NEEDED.format(package=part["package"], lines=indented)
        parts.append(lines)
    return "".join(parts)


def scripts() -> dict[Path, str]:
    """Return what each script holds."""
    return {SCRIPTS / f"{page.stem}.sh": script(page) for page in sorted(TUTORIALS.glob("*.md"))}


if __name__ == "__main__":
    for path, text in scripts().items():
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
