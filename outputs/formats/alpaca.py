"""Alpaca: ``instruction``, ``input`` and ``output``; pairs as LLaMA-Factory reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outputs.dataset.manifest import Column, ExportedFile
from outputs.formats.llama_factory import dataset_info
from outputs.formats.shape import Prompt, RowFormat, split_prompt

_INSTRUCTION = Column("instruction", "text", "The task, the labels and the form of the answer.")
_INPUT = Column("input", "text", "What the task is to be done on.")


class Alpaca(RowFormat):
    """The system message becomes the instruction, the user message the input."""

    name = "alpaca"
    example_columns: tuple[Column, ...] = (
        _INSTRUCTION,
        _INPUT,
        Column("output", "text", "The answer."),
    )
    pair_columns: tuple[Column, ...] = (
        _INSTRUCTION,
        _INPUT,
        Column("chosen", "text", "The better answer."),
        Column("rejected", "text", "The worse answer."),
    )

    def example(self, prompt: Prompt, completion: str) -> dict[str, object]:
        """Return instruction, input and output."""
        return {**_asked(prompt), "output": completion}

    def pair(self, prompt: Prompt, chosen: str, rejected: str) -> dict[str, object]:
        """Return instruction, input, better and worse answer."""
        return {**_asked(prompt), "chosen": chosen, "rejected": rejected}

    def companions(self, files: Sequence[ExportedFile], *, pairs: bool) -> Mapping[str, str]:
        """Return ``dataset_info.json`` for LLaMA-Factory."""
        columns = {"prompt": "instruction", "query": "input"}
        if pairs:
            both = {"chosen": "chosen", "rejected": "rejected"}
            return dataset_info(files, {"ranking": True, "columns": columns | both})
        return dataset_info(files, {"columns": columns | {"response": "output"}})


def _asked(prompt: Prompt) -> dict[str, object]:
    """Return instruction and input; without a system message the question is the instruction."""
    system, asked = split_prompt(prompt)
    return {"instruction": system or asked, "input": asked if system else ""}


FORMAT = Alpaca()
