"""The gold lines as items: for measuring models, and for nothing else."""

from __future__ import annotations

from prompts.tasks.items import TaskItem, fact_view, scene_view
from quality.evaluation.item import EvaluationItem, Knowledge
from quality.evaluation.item_set import ItemSet
from quality.gold import GoldItem, gold_canary, gold_items
from scenarios.schemes.registry import load_scheme

NAME = "gold"
_KNOWN: frozenset[Knowledge] = frozenset(("question", "history", "fact", "claims"))


def load_gold() -> ItemSet:
    """Return the gold lines of the library; each answers one question, and nothing comes before."""
    items = tuple(map(_item, gold_items()))
    return ItemSet(NAME, "gold", load_scheme("hipo"), items, canary=gold_canary())


def _item(gold: GoldItem) -> EvaluationItem:
    line, scenario = gold.line, gold.scenario
    asked = TaskItem(
        id=f"{NAME}/{scenario.id}/{line.id}",
        scene=scene_view(scenario, "en"),
        turns=(("initiator", line.question), ("responder", line.text)),
        target=1,
        standing=0,
        fact=fact_view(scenario, gold.fact),
        goal=line.goal,
        scenario=scenario.id,
        right=dict(line.labels),
    )
    return EvaluationItem(
        asked=asked,
        kind="gold",
        references={"gold": dict(line.labels)},
        known=_KNOWN,
        case=asked.id,
        scenario=scenario.id,
        facts=(gold.fact,),
        category=scenario.category,
    )
