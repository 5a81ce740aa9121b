"""The card of an adapter: what it was made from, how, what it scores, and what it is not for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from outputs.markdown import Markdown, rendered
from outputs.training.settings import SetRecord, TrainingRecord
from outputs.training.summary import TrainingSummary
from prompts.plain_text import one_line

CARD = "README.md"
_TASKS = {
    "label": "to name the labels of utterances and dialogues as their speakers declared them",
    "actor": "to speak for the person who knows the private fact",
    "initiator": "to speak for the person who asks",
    "preference": "to prefer the better of two answers of the person who knows the private fact",
}


def adapter_card(
    record: TrainingRecord, found: SetRecord, summary: TrainingSummary, results: str = ""
) -> str:
    """Return the card as Markdown; the same facts give the same bytes.

    Args:
        record: settings and versions.
        found: the set that was trained on.
        summary: the numbers.
        results: base and tuned model on unseen scenarios, as Markdown; empty: not evaluated.
    """
    header = yaml.safe_dump(_header(record, found), sort_keys=False, allow_unicode=True, width=100)
    values: dict[str, Any] = {
        "record": record,
        "base": _base_name(record.settings.base),
        "chosen": [
            (name, str(value))
            for name, value in record.settings.model_dump(mode="json").items()
            if value is not None and name not in ("base", "device", "dtype")
        ],
        "rate": f"{record.settings.rate(found.kind):g}",
        "versions": sorted(record.versions.items()),
        "set": found,
        "learns": _TASKS.get(found.task, "what the rows of the set answer"),
        "name": found.folder.rstrip("/").rpartition("/")[2],
        "summary": summary,
        "splits": [
            (name, figures)
            for name, figures in (("train", summary.train), ("validation", summary.validation))
            if figures is not None
        ],
        "losses": [
            (name, _shown(loss.first), _shown(loss.last))
            for name, loss in (
                ("training", summary.loss),
                ("validation", summary.validation_loss),
            )
            if loss.last is not None
        ],
        "models": sorted(summary.models.items()),
        "goals": sorted(summary.goals.items()),
        "results": Markdown(_below(results)),
    }
    return f"---\n{header}---\n\n{rendered('adapter.md.j2', values)}"


def _header(record: TrainingRecord, found: SetRecord) -> dict[str, object]:
    """Return the metadata of the card in the vocabulary of the hub."""
    header: dict[str, object] = {}
    base = record.settings.base
    if base == _base_name(base):
        header["base_model"] = one_line(base)
    return header | {
        "library_name": "peft",
        "pipeline_tag": "text-generation",
        "tags": ["hipo", "lora", "trl", found.kind, "pragmatics"],
    }


def _base_name(base: str) -> str:
    """Return an id as it is, and of a path its last part: where it lies is nobody's business."""
    path = Path(base)
    return path.name if path.is_absolute() or path.exists() else base


def _below(text: str) -> str:
    """Return Markdown with its headlines two orders down, to stand under one of the second."""
    lines = text.strip().splitlines()
    return "\n".join(f"##{line}" if line.startswith("#") else line for line in lines)


def _shown(loss: float | None) -> str:
    return "unknown" if loss is None else f"{loss:.4f}"
