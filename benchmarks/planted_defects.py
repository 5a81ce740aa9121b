"""Which defects the gates and the offline judge find, and how often they cry wolf.

A corpus of clean dialogues by ``offline/rules``; into copies of them one defect each is planted.
Recall is the share of planted dialogues in which the detector raises the flag that belongs to the
defect, at its place; the false-flag rate is taken over the clean ones.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks import judge_accuracy, wordings
from benchmarks.defects import KINDS, Garden, Planted, all_planted, responder_turns
from benchmarks.judge_accuracy import judge_answer, judge_prompts
from benchmarks.report import Goal, Row
from hipo.app.generation.generate import generate
from pipeline.recipes.recipe import Recipe
from prompts.judges import judge_view
from quality.gates.protocol import GatedDialogue
from quality.gates.registry import GATES
from quality.gates.runner import build_gates, check_all
from quality.gates.settings import gate_settings
from quality.gates.truncated import is_cut
from quality.gold import gold_items
from quality.judges.comparison import expected
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue, History, Turn
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario

GATE_OF = {"three_sentences": "too_many_sentences"}
"""The code a gate raises for a kind, where it is called otherwise."""
MOST_FLAGGED = 0.15
"""Share of clean dialogues that may be flagged where each line has the labels it likes."""
BY_WORDS = ("off_topic", "incoherent_turn", "truncated", "refusal", "wrong_language",
            "empty_utterance", "repeated_turn", "three_sentences")  # fmt: skip
"""Kinds that an external judge can find as a lack of coherence."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the offline judge says about one answer."""

    own: frozenset[str]
    """Dimensions on which it gives, blind, another label than the declared one (self)."""
    objections: frozenset[str]
    """Dimensions it finds not carried, and ``coherence`` (external)."""


def clean_dialogues(count: int, tactics: str = "free") -> list[Dialogue]:
    """Generate dialogues by ``offline/rules``, spread over the whole library."""
    recipe = Recipe.model_validate(
        {
            "name": "clean",
            "scheme": "hipo",
            "n": count,
            "tactics": tactics,
            "models": {"default": {"model": "offline/rules"}},
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        return list(generate(recipe, output=Path(folder) / "run").dialogues(traces=False))


def judged(dialogue: Dialogue, turn: Turn, scenario: Scenario) -> Judged:
    """Ask both judges about one answer, with the shipped prompts and readers."""
    prompts, view = judge_prompts(), judge_view(scenario, dialogue.case)
    history = dialogue.history(turn.index)
    blind = judge_answer(prompts.turn(view, history, turn.text))
    declared = {label.dimension: label.value for label in turn.tactic}
    verdict = judge_answer(prompts.verify_turn(view, history, turn.text, turn.tactic))
    return Judged(
        frozenset(x.dimension for x in blind if x.value != declared[x.dimension]),
        frozenset(
            [c.dimension for c in verdict.critiques if not c.carried]
            + [r.dimension for r in verdict.readings if r.value == "incoherent"]
        ),
    )


def _gate_rows(garden: Garden, planted: Sequence[Planted]) -> list[Row]:
    """Count what the gates find, and what they find where nothing is."""
    gates, [duplicates] = build_gates(gate_settings())
    false: Counter[str] = Counter()
    for dialogue in garden.clean:
        subject = _subject(garden, dialogue)
        flags = check_all(gates, subject) + list(duplicates.add_and_check(subject, None))
        false.update({flag.code for flag in flags})
    found: Counter[str] = Counter()
    for plant in planted:
        subject = _subject(garden, plant.dialogue)
        flags = check_all(gates, subject)
        if plant.kind == "near_duplicate":
            flags += list(duplicates.add_and_check(subject, None))
        code = GATE_OF.get(plant.kind, plant.kind)
        found[plant.kind] += any(f.code == code and f.turn == plant.turn for f in flags)
    total = Counter(plant.kind for plant in planted)
    rows = [
        Row(f"gates: recall {kind}", found[kind] / total[kind], "", Goal.above(0.98))
        for kind in KINDS
        if GATE_OF.get(kind, kind) in GATES.shipped
    ]
    rows += [
        Row(f"gates: false flags {code}", false[code] / len(garden.clean), "", Goal.below(0.02))
        for code in GATES.shipped
    ]
    return [*rows, _unseen_cuts()]


def _unseen_cuts() -> Row:
    """Return how many cuts of gold lines, one after each of their words, show no sign of a cut."""
    cuts = [
        " ".join(words[:place])
        for item in gold_items()
        for words in [item.line.text.split()]
        for place in range(1, len(words))
    ]
    unseen = sum(not is_cut(cut) for cut in cuts)
    return Row("gates: cuts of gold lines that show no sign", 100 * unseen / len(cuts), " %")


def _subject(garden: Garden, dialogue: Dialogue) -> GatedDialogue:
    return GatedDialogue(dialogue, garden.scenarios[dialogue.case.scenario], garden.scheme)


def _judge_rows(garden: Garden, planted: Sequence[Planted]) -> list[Row]:
    """Count what the offline judge finds as the self judge and as an external one."""
    found: Counter[tuple[str, str]] = Counter()
    total: Counter[str] = Counter()
    for plant in planted:
        swapped = plant.kind.startswith("swapped_")
        if plant.turn is None or not (swapped or plant.kind in BY_WORDS):
            continue
        turn = plant.dialogue.turns[plant.turn]
        scenario = garden.scenarios[plant.dialogue.case.scenario]
        result = judged(plant.dialogue, turn, scenario)
        sign = plant.kind.removeprefix("swapped_") if swapped else "coherence"
        total[plant.kind] += 1
        found["self", plant.kind] += sign in result.own
        found["external", plant.kind] += sign in result.objections
    rows = []
    for kind in total:
        if kind.startswith("swapped_"):
            rows.append(Row(f"self judge: recall {kind}", found["self", kind] / total[kind]))
        rows.append(Row(f"external judge: recall {kind}", found["external", kind] / total[kind]))
    return rows + _false_judge_rows(garden)


def _false_judge_rows(garden: Garden) -> list[Row]:
    """Count the objections to clean answers; some are deserved, for the generator errs too."""
    own: Counter[str] = Counter()
    against: Counter[str] = Counter()
    answers = 0
    for dialogue in garden.clean:
        scenario = garden.scenarios[dialogue.case.scenario]
        for turn in responder_turns(dialogue):
            result = judged(dialogue, turn, scenario)
            answers += 1
            own.update(result.own)
            against.update(result.objections)
    dimensions = [d.id for d in garden.scheme.utterance_dimensions]
    rows = [Row(f"self judge: disagrees on clean {d}", own[d] / answers) for d in dimensions]
    rows += [
        Row(f"external judge: objects to clean {d}", against[d] / answers)
        for d in (*dimensions, "coherence")
    ]
    return rows + _goal_rows(garden)


def _goal_rows(garden: Garden) -> list[Row]:
    """Compare the goals of clean dialogues with what the judge reads in them."""
    prompts = judge_prompts()
    expected = garden.scheme.dimension("misled").expect
    by_goal: Counter[str] = Counter()
    right: Counter[str] = Counter()
    misled: Counter[str] = Counter()
    for dialogue in garden.clean:
        goal = dialogue.case.goal
        view = judge_view(garden.scenarios[dialogue.case.scenario], dialogue.case)
        history = dialogue.history()
        named, told = judge_answer(prompts.dialogue(view, history, readers=True))
        by_goal[goal] += 1
        right[goal] += named.value == goal
        misled[goal] += told.value == expected[goal]
    rows = [Row(f"self judge: goal read right, {g}", right[g] / n) for g, n in by_goal.items()]
    rows += [
        Row(f"external judge: misled as the goal has it, {g}", misled[g] / n)
        for g, n in by_goal.items()
    ]
    return rows


def flagged_rows(tactics: str, dialogues: Sequence[Dialogue]) -> list[Row]:
    """Count the clean dialogues to which the offline judge objects anywhere, and to what.

    Every objection counts, as under the policy ``review``: another label than the declared one,
    an incoherent answer, another goal, and a hearer who is misled or not against the goal.
    """
    scheme, prompts = load_scheme("hipo"), judge_prompts()
    scenarios = Catalogue.load().scenarios
    by_kind: Counter[str] = Counter()
    flagged = 0
    for dialogue in dialogues:
        view = judge_view(scenarios[dialogue.case.scenario], dialogue.case)
        kinds: set[str] = set()
        for turn in (*responder_turns(dialogue), None):
            history = dialogue.history(None if turn is None else turn.index)
            question = (
                prompts.dialogue(view, history, readers=True)
                if turn is None
                else prompts.turn(view, history, turn.text, readers=True)
            )
            for read in judge_answer(question):
                known = expected(scheme, dialogue, turn, scheme.dimension(read.dimension))
                if known is not None and known != read.value:
                    kinds.add(read.dimension)
        by_kind.update(kinds)
        flagged += bool(kinds)
    name = f"offline/judge: clean dialogues flagged, tactics {tactics}"
    goal = Goal.below(MOST_FLAGGED) if tactics == "free" else None
    return [
        Row(name, flagged / len(dialogues), "", goal),
        *(Row(f"{name}, by {kind}", n / len(dialogues)) for kind, n in sorted(by_kind.items())),
    ]


def _stray_row() -> Row:
    """Return how many sentences from nowhere are called incoherent."""
    prompts = judge_prompts()
    strays = list(judge_accuracy.strays())
    found = 0
    for view, question, text in strays:
        history: History = (("initiator", question),)
        verdict = judge_answer(prompts.verify_turn(view, history, text, ()))
        found += any(read.value == "incoherent" for read in verdict.readings)
    return Row("judge: strays called incoherent", found / len(strays))


def run(*, quick: bool = False) -> list[Row]:
    """Plant 20 defects of every kind (60 without ``quick``) and count who finds them."""
    clean, count = (240, 20) if quick else (1134, 60)
    garden = Garden(
        load_scheme("hipo"), Catalogue.load().scenarios, clean_dialogues(clean), Random(5)
    )
    planted = list(all_planted(garden, count))
    return [
        Row("planted defects, kinds", float(len(KINDS))),
        Row("planted defects, of each kind", float(count)),
        Row("clean dialogues", float(len(garden.clean))),
        *_gate_rows(garden, planted),
        *wordings.rows(),
        *_judge_rows(garden, planted),
        *flagged_rows("free", garden.clean),
        *flagged_rows("balanced", clean_dialogues(clean, "balanced")),
        *judge_accuracy.run(quick=quick),
        _stray_row(),
    ]
