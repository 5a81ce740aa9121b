"""The library as a whole, played offline by every strategy."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from hipo.app.generation.generate import generate
from hipo.app.preparation.prepared import prepare
from hipo.app.runs.run import Run
from pipeline.recipes.recipe import Recipe
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue
from scenarios.inspection import inspect_files
from scenarios.pack import LIBRARY, PATH_VARIABLE

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _only_what_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PATH_VARIABLE, raising=False)


def recipe(strategy: str, **changes: object) -> Recipe:
    plain = {"models": {"default": "offline/rules"}, "strategies": [strategy], **changes}
    return Recipe.model_validate(plain)


def told_apart(dialogues: Iterable[Dialogue]) -> dict[tuple[str, str, int], dict[str, set[str]]]:
    """Return what was improvised, by scenario, goal and length, then by what was said: the facts."""
    found: dict[tuple[str, str, int], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for dialogue in dialogues:
        case = dialogue.case
        said = "\n".join(turn.text for turn in dialogue.turns if turn.kind == "improvised")
        found[case.scenario, case.goal, case.turns][said].add(case.fact)
    return found


def endings(run: Run) -> Counter[str]:
    return Counter(ending.status for ending in run.endings())


def test_the_library_has_no_problem_and_no_warning():
    inspection = inspect_files([LIBRARY])
    assert (inspection.files, inspection.problems) == (31, ())


def test_the_full_plan_is_every_fact_under_both_goals_in_three_lengths():
    plan = prepare(recipe("direct")).plan
    cases = list(plan)
    assert len(plan) == len(cases) == 189 * 2 * 3 == 1134
    assert len({case.id for case in cases}) == 1134
    facts = {(s.id, f.id) for s in Catalogue.load().scenarios.values() for f in s.facts}
    kinds = {(c.scenario, c.fact, c.goal, c.turns) for c in cases}
    goals = ("deception", "truthful non-disclosure")
    assert kinds == {(*fact, goal, n) for fact in facts for goal in goals for n in (1, 2, 3)}


@pytest.mark.parametrize(("strategy", "turns"), [("direct", [1, 2, 3]), ("reflective", [2])])
def test_every_fact_is_played_without_a_failure_and_told_apart(tmp_path, strategy, turns):
    run = generate(recipe(strategy, turns=turns), output=tmp_path / "run")
    assert endings(run) == {"generated": 189 * 2 * len(turns)}
    dialogues = list(run.dialogues())
    assert all(len(d.turns) == 2 + 2 * d.case.turns for d in dialogues)
    # One refusal may serve several facts; a longer conversation serves another one by chance only.
    apart = told_apart(d for d in dialogues if d.case.turns > 1)
    assert len(apart) == 31 * 2 * sum(n > 1 for n in turns)
    served = [facts for said in apart.values() for facts in said.values()]
    assert {fact for facts in served for fact in facts} == {d.case.fact for d in dialogues}
    shared = [facts for facts in served if len(facts) > 1]
    assert len(shared) * 100 < len(served), shared


def test_two_facts_of_every_scenario_are_played_by_vote_without_a_failure(tmp_path):
    """One exchange for each, under different goals: MiniLM is what takes time here."""
    pytest.importorskip("sentence_transformers", reason="the extra embeddings is not installed")
    told = [[f"{s.id}/{f.id}" for f in s.facts] for s in Catalogue.load().scenarios.values()]
    dialogues: list[Dialogue] = []
    for goal, place in (("deception", 0), ("truthful non-disclosure", -1)):
        part = [facts[place] for facts in told]
        few = recipe("consistency", facts=part, goals=[goal], turns=[1])
        run = generate(few, output=Path(tmp_path, goal))
        assert endings(run) == {"generated": len(part)}
        dialogues += run.dialogues()
    assert len(dialogues) == 31 * 2
    for dialogue in dialogues:
        trace = dialogue.turns[-1].trace
        assert trace is not None
        assert len(trace.candidates) == 4
        scores = [
            -1.0 if candidate.score is None else candidate.score for candidate in trace.candidates
        ]
        assert trace.chosen == scores.index(max(scores))
