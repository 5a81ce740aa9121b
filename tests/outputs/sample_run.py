"""A small run with everything a report shows: judged, flagged, decided, reviewed; hostile words."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from pipeline.store.calls import ChoiceRow, RequestRow
from pipeline.store.run_store import RunStore
from scenarios.case import Case, make_case
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.run_configuration import RunConfiguration
from scenarios.spec import Scenario
from scenarios.verdicts import Assessment, Decision, Flag, Judgement, JudgeRun, Source

HOSTILE = (
    "<script>alert('x')</script> \"&\u202e{{ 7 * 7 }} </textarea></details><img src=x onerror=y>"
)
DIMENSIONS = ("intention", "veracity", "illocutionary")
LABELS = {
    "intention": ("Inform", "Convince", "Motivate", "Affect"),
    "veracity": ("Quantity", "Quality", "Relevance", "Manner", "None"),
    "illocutionary": ("Representatives", "Directives", "Commissives", "Expressives"),
}
GOALS = ("deception", "truthful non-disclosure")
SCENARIOS = ("used_car", "quit_smoking", "texting_ex")
STRATEGIES = ("direct", "reflective")


def arm_description(strategy: str, model: str) -> dict[str, object]:
    """Return what a store keeps of an arm."""
    provider, _, name = model.partition("/")
    responder = {"provider": provider, "model": name}
    models = {"initiator": responder, "responder": responder}
    return {"strategy": strategy, "models": models, "settings": {}}


def cases(catalogue: Catalogue) -> list[tuple[Case, Scenario]]:
    """Return twelve cases: three scenarios, both goals, one and two exchanges."""
    found = []
    for scenario in (catalogue.scenarios[name] for name in SCENARIOS):
        for goal in GOALS:
            for turns in (1, 2):
                case = make_case(
                    scheme="hipo", scenario=scenario.id, scenario_fingerprint=scenario.fingerprint,
                    fact=scenario.facts[0].id, goal=goal, turns=turns, language="en", variation={},
                    repetition=0, seed=3,
                )  # fmt: skip
                found.append((case, scenario))
    return found


def label(dimension: str, number: int) -> str:
    """Return one of the labels of a dimension."""
    return LABELS[dimension][number % len(LABELS[dimension])]


def dialogue(case: Case, scenario: Scenario, arm: str, number: int, *, words: str) -> Dialogue:
    """Return a dialogue whose labels follow from its number."""
    goal = case.goal
    opening = scenario.opening
    turns = [
        Turn(0, "initiator", opening.question[0], "opening"),
        Turn(1, "responder", opening.statement_for(goal).text[0], "opening"),
    ]
    for exchange in range(case.turns):
        tactic = tuple(
            TacticLabel(name, label(name, number + exchange), f"because {words}")
            for name in DIMENSIONS
        )
        wanted = tuple((name, label(name, number + exchange + number % 2)) for name in DIMENSIONS)
        turns += [
            Turn(2 + 2 * exchange, "initiator", f"Question {number} {words}?", "improvised"),
            Turn(3 + 2 * exchange, "responder", f"Answer {number} {exchange} {words}", "improvised",
                 wanted, goal, tactic),
        ]  # fmt: skip
    return Dialogue(case, arm, tuple(turns))


def request(role: str, case: str, arm: str, *, code: str = "ok", latency_s: float) -> RequestRow:
    """Return a request."""
    return RequestRow(
        epoch=0, role=role, arm=arm, case=case, turn=3, purpose=role, model="compatible/m",
        sent_at=1_700_000_000.0, latency_s=latency_s, code=code, status=None, message="",
        request_id=None, structured="native", omitted=(), n_asked=1, n_got=int(code == "ok"),
        prompt_tokens=100, completion_tokens=20, cached_tokens=0, reasoning_tokens=0,
        cost_usd=0.001, charged_usd=0.001, charged_tokens=120,
    )  # fmt: skip


def make_run(
    folder: Path,
    *,
    model: str = "compatible/m",
    words: str = "I said so",
    strategies: tuple[str, ...] = STRATEGIES,
    verified: bool = True,
    failed: int = 1,
    name: str | None = None,
    skew: int = 0,
) -> Path:
    """Write a run into ``folder``: every case by every strategy, the last ``failed`` ones failed.

    Args:
        folder: where the run will be.
        model: who wrote the answers.
        words: said in every utterance, rationale, flag and reason.
        strategies: the arms.
        verified: whether both kinds of judges looked at it and a policy decided.
        failed: how many cases of the last arm failed.
        name: of the run.
        skew: shifts which judgements agree.
    """
    asyncio.run(
        _make(
            folder, model, words, strategies, verified=verified, failed=failed, name=name, skew=skew
        )
    )
    return folder


async def _make(
    folder: Path,
    model: str,
    words: str,
    strategies: tuple[str, ...],
    *,
    verified: bool,
    failed: int,
    name: str | None,
    skew: int,
) -> None:
    known = cases(Catalogue.load())
    recipe = {"name": "sample", "models": {"default": {"model": model}}}
    config = RunConfiguration(recipe, cases=len(known))
    with RunStore.create(folder, config, name=name) as store:
        arms = [f"{strategy}-{model}".replace("/", "-") for strategy in strategies]
        for arm, strategy in zip(arms, strategies, strict=True):
            store.add_arm(arm, arm_description(strategy, model))
        await store.add_cases([case for case, _ in known])
        for place, arm in enumerate(arms):
            for number, (case, scenario) in enumerate(known):
                if place == len(arms) - 1 and number >= len(known) - failed:
                    await store.fail(case, arm, "timeout", "no answer", 0)
                    continue
                played = dialogue(case, scenario, arm, number + place, words=words)
                await store.calls.record(
                    f"{number} {arm}".encode(),
                    [("system", words)],
                    [
                        request("responder", case.id, arm, code="rate_limited", latency_s=0.1),
                        request("responder", case.id, arm, latency_s=(number + 1) / 10),
                    ],
                    [ChoiceRow(0, 0, "ok", "stop", "{}"), ChoiceRow(1, 0, "invalid", "stop", "")],
                )
                await store.finish(played, 0)
                if verified:
                    await _verify(store, played, number + place + skew, words)
        store.set_state("finished_with_failures" if failed else "finished")


async def _verify(store: RunStore, played: Dialogue, number: int, words: str) -> None:
    """Judge a dialogue: what agrees follows from its number, and is a third in the long run."""
    case, arm = played.case.id, played.arm
    for source, judge in (("self", "compatible/m"), ("external", "compatible/other")):
        kind: Source = "self" if source == "self" else "external"
        found: list[Judgement] = []
        for turn in played.turns:
            for place, tactic in enumerate(turn.tactic):
                agrees = (number + place + turn.index) % 3 > 0
                value = tactic.value if agrees or kind == "external" else label(
                    tactic.dimension, LABELS[tactic.dimension].index(str(tactic.value)) + 1
                )  # fmt: skip
                found.append(
                    Judgement(
                        case, arm, turn.index, kind, judge, tactic.dimension, value, agrees, words
                    )
                )
        whole = "goal" if kind == "self" else "misled"
        value = played.case.goal if kind == "self" else None
        found.append(Judgement(case, arm, None, kind, judge, whole, value, number % 2 == 0, words))
        await store.judgements.record(JudgeRun(case, arm, kind, judge, "c", 0, True), found)
    flags = ()
    if number % 3:
        flags = (
            Flag(case, arm, 3, "self_veracity", f"declared otherwise {words}", 0.5),
            *((Flag(case, arm, None, "goal_self", words),) if number % 3 == 2 else ()),
        )
    verdict = ("accepted", "pending", "discarded")[number % 3]
    decision = Decision(case, arm, verdict, "policy:test", words)  # type: ignore[arg-type]
    await store.judgements.assess(Assessment(case, arm, "c", flags), decision)


ANSWERS = {"ann": ("Inform", "Convince", "Inform"), "bob": ("Inform", "Convince", "Affect")}


def let_people_answer(folder: Path) -> None:
    """Let two people review three dialogues of a run, each changing an answer once."""
    connection = sqlite3.connect(folder / "run.sqlite")
    insert = connection.execute
    insert("insert into studies values (1, 's', 'review', 2, 0, '{}', 0)")
    for person, (code, labels) in enumerate(ANSWERS.items(), 1):
        insert("insert into annotators (seq, code, role, name, account, created_at)"
               " values (?, ?, 'annotator', 'Secret Name', 0, 0)", (person, code))  # fmt: skip
        for item, label in enumerate(labels, 1):
            if person == 1:
                insert("insert into review_items values (?, 1, ?, 1, '', '[]', 0)", (item, item))
            number = person * 10 + item
            insert("insert into assignments (seq, item, annotator, state, leased_until, opened_at,"
                   " origin) values (?, ?, ?, 'done', 0, 0, 'x')", (number, item, person))  # fmt: skip
            for revision, value in ((1, "Motivate"), (2, label)):
                insert("insert into review_answers values (?, ?, 3, 'intention', ?)",
                       (number, revision, value))  # fmt: skip
    connection.commit()
    connection.close()
