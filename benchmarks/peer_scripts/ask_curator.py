"""Ask everything through Bespoke Curator, its cache on; started by ``benchmarks/peers.py``.

By Curator's own interpreter: ``python ask_curator.py BASE_URL BODIES IN_FLIGHT FOLDER``, where ``BODIES``
is a file with a JSON list of request bodies. What the calls took, imports and a first few calls left
out, is printed as a last line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

from bespokelabs import curator

UNBOUNDED = 10**9
"""Requests or tokens a minute: what is measured is not a limit."""
WARM_UP = 8


class BenchAsker(curator.LLM):
    """Sends messages as they are, and keeps the text of the answer."""

    def prompt(self, row):
        """Return the messages of a row."""
        return json.loads(row["messages"])

    def parse(self, row, response):
        """Read the answer, as everyone who is measured does."""
        json.loads(response)
        return {"answer": response}


def main(base_url: str, bodies_file: str, in_flight: str, folder: str) -> None:
    """Ask, and print the seconds, the processor's seconds, and how many answers there are."""
    bodies = json.loads(Path(bodies_file).read_bytes())
    asker = BenchAsker(
        model_name="bench",
        backend="openai",
        backend_params={
            "base_url": base_url,
            "api_key": "bench",
            "max_concurrent_requests": int(in_flight),
            "max_requests_per_minute": UNBOUNDED,
            "max_tokens_per_minute": UNBOUNDED,
        },
        generation_params={key: bodies[0][key] for key in ("temperature", "top_p", "max_tokens")},
    )
    rows = [{"messages": json.dumps(body["messages"])} for body in bodies]
    asker(rows[:WARM_UP], working_dir=f"{folder}/warm-up")
    wall, cpu = time.perf_counter(), time.process_time()
    answered = asker(rows, working_dir=f"{folder}/cache")
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    done = {"seconds": wall, "cpu": cpu, "answers": len(answered.dataset)}
    print(json.dumps(done | {"version": version("bespokelabs-curator")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
