"""How many rows of each kind a recipe can yield at most, before anything is played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from hipo.app.estimates.playing import sample_cases
from hipo.app.preparation.prepared import Prepared
from outputs.rows.intention_set import TASK
from pipeline.strategies.consistency import ConsistencySettings
from pipeline.strategies.reflective import ReflectiveSettings
from prompts.tasks.registry import shipped_tasks
from scenarios.flow import planned_turns
from scenarios.schemes.misleading import ruled_out_by_truth
from scenarios.speakers import speakers

if TYPE_CHECKING:
    from outputs.kinds.origins import Origin
    from scenarios.schemes.model import Scheme

_SECOND = "every prompt gets one answer: name a second --strategy, or a second model"
_HONEST = "honest ones alone; more with --include-deception"
_HONEST_PAIRS = "; of honest dialogues"


@dataclass(frozen=True, slots=True)
class RowYield:
    """The most rows that a kind of data set can have of a plan."""

    kind: str
    """As ``--to`` names it, with the task or the kind of preferences."""
    most: int
    why: str = ""
    """What they depend on; where there can be none, what it takes."""


def row_yields(prepared: Prepared) -> tuple[RowYield, ...]:
    """Return the most rows of each kind, of the whole plan, those that are played already included.

    Verdicts, judges and repeated words make them fewer.
    """
    return (*_of_dialogues(prepared), *_of_pairs(prepared))


def _of_dialogues(prepared: Prepared) -> Iterator[RowYield]:
    arms, scheme = len(prepared.arms), prepared.scheme
    improvised = prepared.plan.improvised
    dialogues, answers = len(prepared.plan) * arms, improvised.labelled * arms
    questions = improvised.others * arms
    yield RowYield("dialogues", dialogues)
    fixed = dialogues * _most_fixed(prepared)
    yield RowYield("turns", answers + questions + fixed, "with fixed lines")
    yield _of_labels(scheme, answers, dialogues)
    yield RowYield("sft --task people", 0, "one for each person who labels: hipo review serve")
    honest = _honest_share(prepared)
    why = ("" if honest == 1 else _HONEST) if honest else _all_deceive(scheme)
    yield RowYield("sft --task actor", round(answers * honest), why)
    others = "" if questions else "nobody else improvises a line: more --turns"
    if any(scenario.flow for scenario in prepared.scenarios.values()):
        spoken = f"lines of {speakers(prepared.scenarios.values()).get('initiator')}"
        others = spoken if questions else "everybody who speaks is labelled: --task actor"
    yield RowYield("sft --task initiator", questions, others)
    yield _of_lies(prepared, round(answers * (1 - honest)), round(dialogues * (1 - honest)))
    if TASK in shipped_tasks(scheme):
        about = "one for a run of turns with one intention that is agreed on"
        yield RowYield("intention-mcq", answers, about)
    else:
        yield RowYield("intention-mcq", 0, f"nobody is asked for intentions in {scheme.name}")


def _of_labels(scheme: Scheme, answers: int, dialogues: int) -> RowYield:
    """Return the yield of what is labelled by its speaker, or by what was assigned to it."""
    kinds = "sft --task label, benchmark, lm-eval"
    spoken = 2 * answers if scheme.utterance_dimensions else 0
    assigned = dialogues if scheme.assigned else 0
    of_each = {"two for an answer": spoken, "one for a dialogue": assigned}
    about = ", ".join(what for what, rows in of_each.items() if rows)
    if not about:
        about = f"speakers declare no label of {scheme.name}: people may (hipo review serve)"
        return RowYield(kinds, 0, about)
    return RowYield(kinds, spoken + assigned, f"{about}; of accepted dialogues")


def _of_lies(prepared: Prepared, answers: int, dialogues: int) -> RowYield:
    """Return the yield of swap items, given the answers and dialogues that may deceive."""
    if not any(ruled_out_by_truth(prepared.scheme)):
        return RowYield("swap", 0, f"{prepared.scheme.name} rules out no label for who is truthful")
    if not answers:
        return RowYield("swap", 0, "nobody lies: add goals that deceive")
    fixed = dialogues if prepared.plan.openings == "by-goal" else 0
    return RowYield("swap", 3 * (answers + fixed), "three for a line that is a lie, each line once")


def _most_fixed(prepared: Prepared) -> int:
    """Return the most fixed lines that a dialogue of the plan begins with, by some cases of it."""
    return max(
        sum(turn.text is not None for turn in planned_turns(prepared.scenarios[c.scenario], c))
        for c in sample_cases(prepared)
    )


def _of_pairs(prepared: Prepared) -> Iterator[RowYield]:
    honest = _honest_share(prepared)
    note = _HONEST_PAIRS if honest < 1 else ""
    between = round(comb(len(prepared.arms), 2) * len(prepared.plan) * honest)
    revised = voted = 0.0
    for arm in prepared.arms:
        settings = prepared.recipe.strategy_settings(arm.strategy)
        if isinstance(settings, ReflectiveSettings):
            revised += prepared.plan.exchanges * settings.max_revisions
        if isinstance(settings, ConsistencySettings):
            voted += prepared.plan.exchanges * (settings.k - 1)
    revised, voted = round(revised * honest), round(voted * honest)
    wanted = between + voted if prepared.recipe.tactics != "free" else 0
    deceptive = "" if honest else _all_deceive(prepared.scheme)
    found = f"where hipo verify --judge finds the labels of one alone{note}"
    yield _pairs("judges", between, deceptive or _SECOND, found)
    nothing = "nothing is wanted: ask for labels with --tactics balanced"
    if prepared.recipe.tactics != "free":
        nothing = deceptive or f"{_SECOND}, or --strategy consistency"
    has = f"where one has the wanted labels, and the other not{note}"
    yield _pairs("wanted", wanted, nothing, has)
    decided = f"where one is accepted, and the other discarded{note}"
    yield _pairs("verdict", between, deceptive or _SECOND, decided)
    none = deceptive or "no draft is revised: --strategy reflective"
    yield _pairs("revision", revised, none, f"where a draft did not carry its labels{note}")
    none = deceptive or "no candidates are drawn: --strategy consistency"
    yield _pairs("vote", voted, none, f"with --pairs vote alone{note}")


def _pairs(origin: Origin, most: float, none: str, some: str) -> RowYield:
    return RowYield(f"dpo --pairs {origin}", round(most), some if most else none)


def _all_deceive(scheme: Scheme) -> str:
    """Say why nobody is taught to speak from a plan without a goal that forbids what is false."""
    if scheme.truthful_goals:
        return "every goal may deceive: --include-deception, or add a truthful one"
    return f"{scheme.name} does not say which goals are truthful (docs/scenarios.md): --include-deception"


def _honest_share(prepared: Prepared) -> float:
    """Return about which share of the cases has a goal that forbids saying what is false."""
    scheme = prepared.scheme
    if not scheme.assigned:
        return 1.0
    goals = prepared.plan.goals or scheme.goals
    return sum(goal in scheme.truthful_goals for goal in goals) / len(goals)
