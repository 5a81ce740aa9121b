"""Compare the meanings of texts with the embedding model that voting uses, if it is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from hipo.cli.errors import say
from hipo.cli.models import EMBEDDING_PACKAGES, INSTALL_EMBEDDINGS
from scenarios.checks.checked_scenario import Similarity

NOT_INSTALLED = f"meanings were not compared; to compare them too: {INSTALL_EMBEDDINGS}"
NOT_WANTED = "meanings were not compared (--no-embeddings)"


def meaning_similarity(*, wanted: bool) -> tuple[Similarity | None, str]:
    """Return what compares meanings, and a remark where nothing does.

    The model is loaded when the first texts are compared; every text is embedded once.
    """
    if not wanted:
        return None, NOT_WANTED
    if any(find_spec(package) is None for package in EMBEDDING_PACKAGES):
        return None, NOT_INSTALLED
    import numpy as np  # noqa: PLC0415 - comes with the embeddings

    from pipeline.embeddings import Embed, load_sentence_model  # noqa: PLC0415 - needs numpy
    from pipeline.voting import Vectors  # noqa: PLC0415 - needs numpy

    embed: Embed | None = None
    rows: dict[str, Vectors] = {}

    def similarity(left: Sequence[str], right: Sequence[str]) -> list[list[float]]:
        nonlocal embed
        new = list(dict.fromkeys(text for text in (*left, *right) if text not in rows))
        if new:
            if embed is None and sys.stderr.isatty():
                say("comparing meanings: loading the embedding model takes some seconds ...")
            embed = embed or load_sentence_model(None)
            rows.update(zip(new, embed(new), strict=True))
        cosines = np.stack([rows[text] for text in left]) @ np.stack([rows[t] for t in right]).T
        plain: list[list[float]] = cosines.tolist()
        return plain

    return similarity, ""
