"""ShareGPT: ``conversations`` of ``from`` and ``value``, with the system message beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from outputs.dataset.manifest import Column, ExportedFile
from outputs.formats.llama_factory import dataset_info
from outputs.formats.shape import Prompt, RowFormat, split_prompt

_SYSTEM = Column("system", "text", "The task, the labels and the form of the answer.")


class ShareGPT(RowFormat):
    """Turns of a human and a model; those of pairs end with the human, and two answers follow."""

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
        system, turns = _parted(prompt)
        return {"conversations": [*turns, _model(completion)], "system": system}

    def pair(self, prompt: Prompt, chosen: str, rejected: str) -> dict[str, object]:
        """Return the human's part and two answers."""
        system, turns = _parted(prompt)
        return {
            "conversations": turns,
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


def _parted(prompt: Prompt) -> tuple[str, list[dict[str, str]]]:
    """Return the system message, and the turns of human and model."""
    system, _ = split_prompt(prompt)
    others = [m for m in prompt if m.role != "system"]
    return system, [_human(m.content) if m.role == "user" else _model(m.content) for m in others]


def _human(text: str) -> dict[str, str]:
    return {"from": "human", "value": text}


def _model(text: str) -> dict[str, str]:
    return {"from": "gpt", "value": text}


FORMAT = ShareGPT()
