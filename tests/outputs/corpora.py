"""Runs to export: every strategy and verdict, rationales that tell the fact, one answer that does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import orjson

from outputs.export.export import Exported, export
from outputs.kinds.export_kind import ExportOptions
from outputs.selecting.wish import Selection
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.dialogue import (
    Attempt,
    Candidate,
    Critique,
    Dialogue,
    Draft,
    TacticLabel,
    Trace,
)
from scenarios.spec import Scenario
from scenarios.verdicts import Assessment, Decision, Flag, Verdict
from tests.factories import (
    library,
    make_arm,
    make_case,
    make_opening,
    make_run,
    make_scheme,
    make_turn,
)

SCHEME = make_scheme()
GOALS = SCHEME.goal.values
DECEPTION, TRUTH = GOALS
STRATEGIES = ("consistency", "direct", "reflective")
TELLER = "I may as well tell you:"
"""How an answer begins that says the private fact."""


def some_scenarios(n: int) -> list[Scenario]:
    """Return scenarios of the library, of every category where there are enough."""
    return sorted(library().scenarios.values(), key=lambda s: s.fingerprint)[:n]


def tactic(number: int, why: str = "because it is so") -> tuple[TacticLabel, ...]:
    """Return one of all the combinations of labels that occur."""
    return tuple(
        TacticLabel(d.id, d.values[(number // (place + 1)) % (len(d.values) - place % 2)], why)
        for place, d in enumerate(SCHEME.utterance_dimensions)
    )


def trace(strategy: str, draft: Draft, number: int) -> Trace:
    """Return how an answer came to be: a vote over three others, or a revision."""
    others = [Draft(f"{draft.text} Or so, {i}.", draft.goal, tactic(number + i)) for i in (1, 2)]
    if strategy == "consistency":
        same = Draft(f"  {draft.text.upper()} ", draft.goal, draft.tactic)
        drafts: Sequence[Draft | None] = (others[0], draft, same, None, others[1])
        scores = (0.25, 0.75, 0.5, None, 0.125)
        return Trace(
            strategy,
            candidates=tuple(
                Candidate(i, d, s) for i, (d, s) in enumerate(zip(drafts, scores, strict=True))
            ),
            chosen=1,
        )
    if strategy == "reflective" and number % 2:
        found = tuple(
            Critique(d.id, place > 0, "so") for place, d in enumerate(SCHEME.utterance_dimensions)
        )
        return Trace(strategy, attempts=(Attempt(others[0], found), Attempt(draft)), chosen=1)
    return Trace(strategy)


def play(case: Case, scenario: Scenario, strategy: str, number: int) -> Dialogue:
    """Return a dialogue whose words and labels follow from its number."""
    fact = scenario.fact(case.fact)
    turns = list(make_opening(scenario, case.goal))
    for exchange in range(case.turns):
        mark = f"x{case.id[:6]} {exchange}"  # digits alone would be no word
        # Every other case begins with an answer that all three strategies give.
        alike = exchange == 0 and number // len(STRATEGIES) % 2 == 0
        said = f"Answer {mark} by {'all' if alike else strategy}."
        why = "because it is so" if number % 2 else f"keeps back that {fact.text}"
        if exchange == 1 and number % 4 == 0:
            said = f"{TELLER} {fact.text}"
        draft = Draft(said, case.goal, tactic(number + exchange, why))
        turns += [
            make_turn(2 + 2 * exchange, f"Question {mark}?"),
            make_turn(3 + 2 * exchange, said, wanted=(("intention", "Inform"),),
                      declared_goal=case.goal, tactic=draft.tactic,
                      trace=trace(strategy, draft, number)),
        ]  # fmt: skip
    return Dialogue(case, strategy, tuple(turns))


def cases(scenarios: Sequence[Scenario], facts: int, turns: int) -> Iterator[tuple[Case, Scenario]]:
    """Yield every fact with every goal."""
    for scenario, goal in product(scenarios, GOALS):
        known = [fact for fact in scenario.facts if fact.owner == "responder"][:facts]
        for fact in known:
            yield make_case(scenario, fact=fact.id, goal=goal, turns=turns, seed=3), scenario


def all_accepted(number: int) -> Verdict | None:
    """Accept everything."""
    return "accepted"


def exportable_run(
    folder: Path,
    *,
    scenarios: int = 8,
    facts: int = 2,
    turns: int = 2,
    strategies: Sequence[str] = ("direct",),
    model: str = "compatible/m",
    verdict: Callable[[int], Verdict | None] = all_accepted,
) -> Path:
    """Write a run into ``folder``; ``verdict`` decides on a dialogue by its number."""
    known = cases(some_scenarios(scenarios), facts, turns)
    dialogues = [
        play(case, scenario, strategy, number)
        for number, ((case, scenario), strategy) in enumerate(product(known, strategies))
    ]

    async def decide(store: RunStore, dialogue: Dialogue, number: int) -> None:
        result, key = verdict(number), (dialogue.case.id, dialogue.arm)
        if result == "discarded":
            flags = (Flag(*key, 3, "labels", "so"),)
            await store.judgements.assess(Assessment(*key, "c", flags))
        if result is not None:
            await store.judgements.decide([Decision(*key, result, "policy:review", "so")])

    arms = {strategy: make_arm(strategy, model) for strategy in strategies}
    return make_run(folder, dialogues, arms=arms, each=decide)


def exported(folder: Path, run: Path, kind: str, **options: Any) -> Exported:
    """Export a run into ``folder``; ``verdict`` and ``overwrite`` go where they belong."""
    selection = Selection((run,), verdict=options.pop("verdict", "accepted"))
    overwrite = options.pop("overwrite", False)
    return export(selection, ExportOptions(kind, **options), folder, overwrite=overwrite)  # type: ignore[arg-type]


def rows_in(folder: Path, split: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of an export, or of one of its splits."""
    files = sorted((folder / "jsonl").rglob(f"{split or '*'}.jsonl"))
    return [orjson.loads(line) for file in files for line in file.read_bytes().splitlines()]


def words_of(row: dict[str, Any]) -> str:
    """Return everything a model is shown of a row, and what it answers."""
    return "\n".join(message["content"] for message in messages_of(row))


def messages_of(row: dict[str, Any]) -> list[dict[str, str]]:
    """Return the messages of a row, prompt and answer."""
    return list(row["messages"] if "messages" in row else [*row["prompt"], *row["completion"]])
