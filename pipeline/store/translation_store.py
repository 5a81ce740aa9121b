"""A folder of translations: ``translation.sqlite`` in it holds every call and what it cost."""

from __future__ import annotations

from typing import ClassVar

from pipeline.store.evaluation_store import EvaluationStore

TRANSLATION = "translation.sqlite"


class TranslationStore(EvaluationStore):
    """Calls and endings of translations, kept as those of an evaluation are."""

    file: ClassVar[str] = TRANSLATION
