"""Forget how much more the endpoints of a run count than they may, as after a mistake of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hipo.app.runs.folders import find_run
from pipeline.store.evaluation_store import EvaluationStore, TranslationStore
from pipeline.store.excess import Address, Excess
from pipeline.store.run_store import RunStore


def forget_excess(named: str) -> Mapping[Address, Excess]:
    """Have the budget bound requests by what is asked for alone; return what was known before.

    What was charged stays charged.

    Args:
        named: a run, by folder or name, or the folder of an evaluation or of translations.

    Raises:
        UsageError: there is none, or another process is writing it.
    """
    folder = Path(named)
    kinds = (EvaluationStore, TranslationStore)
    kind = next((kind for kind in kinds if kind.exists(folder)), None)
    with RunStore.open(find_run(named)) if kind is None else kind.begin(folder) as store:
        known = store.calls.excess()
        store.calls.keep_excess({})
    return known
