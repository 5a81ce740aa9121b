"""Axolotl: rows of messages, and the stanza of a configuration that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import yaml

from outputs.dataset.manifest import Column, ExportedFile
from outputs.formats.shape import Prompt, RowFormat, assistant, lines_files, message_list

STANZA = "axolotl.yaml"
_HEAD = """\
# To be put into an Axolotl configuration; paths are relative to the folder of this file.
# base_model, adapter and the rest of the training are yours to choose.
"""


class Axolotl(RowFormat):
    """``messages`` for examples; ``messages``, ``chosen`` and ``rejected`` for pairs."""

    name = "axolotl"
    example_columns: tuple[Column, ...] = (
        Column("messages", "messages", "System message, then user and assistant by turns."),
    )
    pair_columns: tuple[Column, ...] = (
        Column(
            "messages",
            "messages",
            "System message, then user and assistant by turns; the user last.",
        ),
        Column("chosen", "message", "The better answer."),
        Column("rejected", "message", "The worse answer."),
    )

    def example(self, prompt: Prompt, completion: str) -> dict[str, object]:
        """Return the prompt and its answer as one conversation."""
        return {"messages": [*message_list(prompt), assistant(completion)]}

    def pair(self, prompt: Prompt, chosen: str, rejected: str) -> dict[str, object]:
        """Return the prompt as messages, and each answer as one message."""
        return {
            "messages": message_list(prompt),
            "chosen": assistant(chosen),
            "rejected": assistant(rejected),
        }

    def companions(self, files: Sequence[ExportedFile], *, pairs: bool) -> Mapping[str, str]:
        """Return the stanza: training on the answers, testing on the validation split."""
        stanza: dict[str, object] = {"rl": "dpo"} if pairs else {}
        for key, split in (("datasets", "train"), ("test_datasets", "validation")):
            found = [
                read_as(f.path, {"roles_to_train": ["assistant"]}, pairs=pairs)
                for f in lines_files(files)
                if f.split == split
            ]
            if found:
                stanza[key] = found
        return {STANZA: _HEAD + yaml.safe_dump(stanza, sort_keys=False)}


def read_as(path: str, learnt: Mapping[str, object], *, pairs: bool) -> dict[str, object]:
    """Return how one file is read; a local file has only the split that it calls ``train``.

    Args:
        path: of the file.
        learnt: which messages of an example are.
        pairs: whether its rows are pairs.
    """
    entry: dict[str, object] = {
        "path": path,
        "ds_type": "json",
        "split": "train",
        "type": "chat_template.default" if pairs else "chat_template",
        "field_messages": "messages",
        "message_property_mappings": {"role": "role", "content": "content"},
    }
    if pairs:
        return entry | {"field_chosen": "chosen", "field_rejected": "rejected"}
    return {**entry, **learnt, "train_on_eos": "turn"}


FORMAT = Axolotl()
