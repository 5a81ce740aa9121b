"""Do what a person does on the page that a command serves, and end the command.

python visitor.py hipo review serve runs/mine --all --per-item 2

Pages for reading are opened. On a review page two annotators answer every item, not always alike,
and an expert settles all of them.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

from benchmarks.machine import free_port
from benchmarks.review_client import AnnotatorClient

ANNOTATORS = ("Ada", "Lin")


def link(told: Iterator[str], role: str = "") -> str:
    """Return the next link that a command prints for a role."""
    for line in told:
        print(line, end="", flush=True)
        if "/enter?token=" in line and line.strip().startswith(role):
            return line.split()[-1]
    raise SystemExit("the command ended without a link")


def look(told: Iterator[str]) -> None:
    """Open the page and say what its title is."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(link(told)) as answer:
        title = re.search(r"<title>([^<]*)</title>", answer.read().decode())
    print(f"opened: {title[1] if title else 'a page without a title'}")


def annotate(told: Iterator[str]) -> None:
    """Answer everything as two annotators, then settle it as the expert."""
    first, expert = link(told, "annotator:"), link(told, "expert:")
    for place, name in enumerate(ANNOTATORS):
        client = AnnotatorClient(first if not place else link(told, "annotator:"), name)
        client.come_in()
        asked: list[str] = []

        def choose(
            question: str, values: list[str], place: int = place, asked: list[str] = asked
        ) -> str:
            asked.append(question)
            return values[1 if place and len(asked) % 4 == 0 else 0]  # the second differs at times

        client.work(choose=choose)
        print(f"{name} answered {len(asked)} questions")
    client = AnnotatorClient(expert, "Grace")
    client.come_in()
    print(f"the expert settled {client.settle()} dialogues")


def main(command: list[str]) -> None:
    """Serve, visit, end."""
    command = [*command, "--port", str(free_port())]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as serving:
        try:
            told = iter(serving.stderr or ())
            (annotate if "review" in command else look)(told)
        finally:
            serving.send_signal(signal.SIGINT)  # as Ctrl-C does


if __name__ == "__main__":
    main(sys.argv[1:])
