"""ShareGPT: ``conversations`` of ``from`` and ``value``, with the system message beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outputs.dataset.manifest import Column, ExportedFile
from outputs.formats.llama_factory import dataset_info
from outputs.formats.shape import Prompt, RowFormat, split_prompt

_SYSTEM = Column("system", "text", "The task, the labels and the form of the answer.")


class ShareGPT(RowFormat):
    """One exchange of a human and a model; pairs hold the human's part and two answers."""

    name = "sharegpt"
    example_columns: tuple[Column, ...] = (
        Column("conversations", "turns", "What the human says, then what the model answers."),
        _SYSTEM,
    )
    pair_columns: tuple[Column, ...] = (
        Column("conversations", "turns", "What the human says."),
        Column("chosen", "turn", "The better answer."),
        Column("rejected", "turn", "The worse answer."),
        _SYSTEM,
    )

    def example(self, prompt: Prompt, completion: str) -> dict[str, object]:
        """Return the exchange."""
        system, asked = split_prompt(prompt)
        return {"conversations": [_human(asked), _model(completion)], "system": system}

    def pair(self, prompt: Prompt, chosen: str, rejected: str) -> dict[str, object]:
        """Return the human's part and two answers."""
        system, asked = split_prompt(prompt)
        return {
            "conversations": [_human(asked)],
            "chosen": _model(chosen),
            "rejected": _model(rejected),
            "system": system,
        }

    def companions(self, files: Sequence[ExportedFile], *, pairs: bool) -> Mapping[str, str]:
        """Return ``dataset_info.json`` for LLaMA-Factory."""
        columns = {"messages": "conversations", "system": "system"}
        entry: dict[str, object] = {"formatting": "sharegpt", "columns": columns}
        if pairs:
            both = {"chosen": "chosen", "rejected": "rejected"}
            entry |= {"ranking": True, "columns": columns | both}
        return dataset_info(files, entry)


def _human(text: str) -> dict[str, str]:
    return {"from": "human", "value": text}


def _model(text: str) -> dict[str, str]:
    return {"from": "gpt", "value": text}


FORMAT = ShareGPT()
