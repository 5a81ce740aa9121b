"""Ask everything through the inference runner of datatrove; started by ``benchmarks/peers.py``.

By datatrove's own interpreter: ``python ask_datatrove.py BASE_URL BODIES IN_FLIGHT FOLDER [RECORDS]``,
where ``BODIES`` is a file with a JSON list of request bodies. With ``RECORDS`` (documents a
checkpoint) answers are stored as they come; without, they are in the file that is written and nowhere
else. What the calls took, imports and a first few calls left out, is printed as a last line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import aiofiles  # noqa: F401 - the runner imports these three when it first needs them
import aiosqlite  # noqa: F401
import httpx  # noqa: F401
from datatrove.data import Document
from datatrove.pipeline.inference.run_inference import InferenceConfig, InferenceRunner
from datatrove.pipeline.writers import JsonlWriter

WARM_UP = 8


async def rollout(document, generate):
    """Send the body of a document, and keep the text of the answer."""
    answer = await generate(dict(document.metadata["body"]))
    json.loads(answer.text)
    return answer.text


def ask(base_url: str, bodies: list[dict], in_flight: int, folder: Path, records: int) -> int:
    """Ask all, and return how many answers were written."""
    documents = [
        Document(text="x", id=str(number), metadata={"body": body})
        for number, body in enumerate(bodies)
    ]
    stored = {"checkpoints_local_dir": str(folder / "checkpoints"), "records_per_chunk": records}
    out = folder / "out"
    InferenceRunner(
        rollout_fn=rollout,
        config=InferenceConfig(
            server_type="endpoint",
            endpoint_url=base_url.removesuffix("/v1"),
            model_name_or_path="bench",
            max_concurrent_generations=in_flight,
        ),
        output_writer=JsonlWriter(str(out), "${rank}_${chunk_index}.jsonl", compression=None),
        **(stored if records else {}),
    ).run(documents)
    return sum(len(file.read_bytes().splitlines()) for file in out.glob("*.jsonl"))


def main(base_url: str, bodies_file: str, in_flight: str, folder: str, records: str = "0") -> None:
    """Ask, and print the seconds, the processor's seconds, and how many answers there are."""
    bodies = json.loads(Path(bodies_file).read_bytes())
    ask(base_url, bodies[:WARM_UP], WARM_UP, Path(folder) / "warm-up", int(records))
    wall, cpu = time.perf_counter(), time.process_time()
    answers = ask(base_url, bodies, int(in_flight), Path(folder) / "run", int(records))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    done = {"seconds": wall, "cpu": cpu, "answers": answers}
    print(json.dumps(done | {"version": version("datatrove")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
