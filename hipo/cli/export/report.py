"""What an export left behind: for programs, and for people."""

from __future__ import annotations

from hipo.app.export.export import DataSet
from hipo.cli.terminal.console import columns, number, plain
from outputs.contamination.contamination import overlap_share, reworded_share
from outputs.token_lengths import DEFAULT_WINDOW
from scenarios.plural import plural


def exported_as_json(data: DataSet) -> dict[str, object]:
    """Return what an export left behind as plain data.

    ``folder``; ``dialogues``, ``scenarios``, ``facts``: how many rows were made of; ``rows`` by
    split; ``files``: ``path``, ``rows``, ``size``, ``sha256``; ``includes_deception``; ``left_out``:
    ``generated`` and ``taken`` dialogues, and what was left out by reason, ``dialogues`` and
    ``rows``; ``notes``: what else its user should know; ``overlaps``: of the comparisons that were asked for, see
    :meth:`outputs.contamination.contamination.Contamination.summary`, with ``removed``: whether the rows found
    were left out; ``address``: on the hub, or null.
    """
    facts = data.exported.facts
    return {
        "folder": str(data.folder),
        **plain(facts, "dialogues scenarios facts"),
        "rows": data.rows,
        "files": [plain(file, "path rows size sha256") for file in facts.files],
        "includes_deception": facts.includes_deception,
        "left_out": facts.left_out.plain(),
        "notes": list(data.exported.notes),
        "overlaps": [dict(overlap) for overlap in facts.contamination],
        "address": data.address,
    }


def exported_as_text(data: DataSet) -> str:
    """Return what an export left behind in words."""
    facts = data.exported.facts
    made = plural(facts.dialogues, "dialogue")
    shorter = "" if facts.options.get("prompt") == "short" else ", or take --prompt short"
    rows = [[name, number(n)] for name, n in data.rows.items()]
    lines = [
        f"{made}, {plural(facts.scenarios, 'scenario')}, {plural(facts.facts, 'fact')}",
        columns(["split", "rows"], rows),
        *facts.left_out.sentences(ways=True),
        *(one.sentence for one in facts.lengths),
        *(
            f"warning: {plural(one.over, 'row')} of {one.subset} may have more than "
            f"{DEFAULT_WINDOW:,} tokens, at which trainers cut by default, answer first: set "
            f"max_length (hipo train does){shorter}"
            for one in facts.lengths
            if one.over
        ),
        *(
            f"overlap of {overlap['checked']} with {overlap['reference']}: {overlap_share(overlap)}"
            f"{', left out' if overlap['removed'] else ''}"
            f"; perhaps reworded: {reworded_share(overlap)}"
            f"{', left out with them' if overlap['reworded_removed'] else ''}"
            for overlap in facts.contamination
        ),
        *(f"note: {note}" for note in data.exported.notes),
    ]
    if facts.includes_deception:
        lines.append("note: a model trained on these rows learns to deceive; the card says so")
    if facts.offline_baseline:
        lines.append("note: written by rules, not by a language model: no training data")
    lines.append(f"{data.folder}: README.md is the data card, manifest.json lists every file")
    if data.address is not None:
        lines.append(f"pushed to {data.address}")
    return "\n".join(lines)
