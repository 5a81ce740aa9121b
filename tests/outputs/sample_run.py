"""A small run with everything a report shows: judged, flagged, decided, reviewed; hostile words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from pipeline.store.annotations import LabelRow, LabelSource, add_pass
from pipeline.store.call_rows import CallReport, ChoiceRow
from pipeline.store.people_database import connect_people, run_mark
from pipeline.store.run_store import RunStore
from pipeline.store.texts import parted
from scenarios.case import Case
from scenarios.dialogue import Dialogue, TacticLabel
from scenarios.run_configuration import RunConfiguration
from scenarios.verdicts import Assessment, Decision, Flag, Judgement, JudgeRun, Source
from tests.factories import (
    make_arm,
    make_case,
    make_dialogue,
    make_request_row,
    make_run,
    make_scenario,
)

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


def cases() -> list[Case]:
    """Return twelve cases: three scenarios, both goals, one and two exchanges."""
    return [
        make_case(make_scenario(name), goal=goal, turns=turns, seed=3)
        for name in SCENARIOS
        for goal in GOALS
        for turns in (1, 2)
    ]


def label(dimension: str, number: int) -> str:
    """Return one of the labels of a dimension."""
    return LABELS[dimension][number % len(LABELS[dimension])]


def dialogue(case: Case, arm: str, number: int, *, words: str) -> Dialogue:
    """Return a dialogue whose labels follow from its number."""
    said: list[str] = []
    for exchange in range(case.turns):
        said += [f"Question {number} {words}?", f"Answer {number} {exchange} {words}"]
    played = make_dialogue(*said, case=case, arm=arm)
    turns = []
    for turn in played.turns:
        place = number + (turn.index - 3) // 2
        tactic = tuple(TacticLabel(d, label(d, place), f"because {words}") for d in DIMENSIONS)
        wanted = tuple((d, label(d, place + number % 2)) for d in DIMENSIONS)
        turns.append(replace(turn, wanted=wanted, tactic=tactic) if turn.is_answer else turn)
    return replace(played, turns=tuple(turns))


def reported_run(
    folder: Path,
    *,
    model: str = "compatible/m",
    words: str = "I said so",
    strategies: tuple[str, ...] = STRATEGIES,
    verified: bool = True,
    failed: int = 1,
    name: str | None = None,
    skew: int = 0,
    scheme: str = "hipo",
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
        scheme: the label scheme, with a version where it is not the newest.
    """
    every = cases()
    arms = {
        f"{strategy}-{model}".replace("/", "-"): make_arm(strategy, model)
        for strategy in strategies
    }
    numbered = [(number, case, arm) for arm in arms for number, case in enumerate(every)]
    played, lost = numbered[: len(numbered) - failed], numbered[len(numbered) - failed :]
    places = {arm: place for place, arm in enumerate(arms)}

    async def look(store: RunStore, dialogue: Dialogue, place: int) -> None:
        number, case, arm = played[place]
        await _record_call(store, case, arm, number, words)
        if verified:
            await _verify(store, dialogue, number + places[arm] + skew, words)

    return make_run(
        folder,
        [dialogue(case, arm, number + places[arm], words=words) for number, case, arm in played],
        arms=arms,
        config=RunConfiguration(
            {"name": "sample", "models": {"default": {"model": model}}}, cases=len(every)
        ),
        name=name,
        failed=[(case, arm) for _, case, arm in lost],
        each=look,
        scheme=scheme,
    )  # fmt: skip


async def _record_call(store: RunStore, case: Case, arm: str, number: int, words: str) -> None:
    """Store a request that was refused once, and two choices, of which one cannot be read."""
    await store.calls.record(
        CallReport(
            f"{number} {arm}".encode(),
            parted([("system", words)]),
            [
                make_request_row(
                    case=case.id, arm=arm, code="rate_limited", n_got=0, latency_s=0.1
                ),
                make_request_row(case=case.id, arm=arm, latency_s=(number + 1) / 10),
            ],
            [ChoiceRow(0, 0, "ok", "stop", "{}"), ChoiceRow(1, 0, "invalid", "stop", "")],
        )
    )


async def _verify(store: RunStore, played: Dialogue, number: int, words: str) -> None:
    """Judge a dialogue: what agrees follows from its number, and is a third in the long run."""
    case, arm = played.case.id, played.arm
    for source, judge in (("self", "compatible/m"), ("external", "compatible/other")):
        kind: Source = "self" if source == "self" else "external"
        found: list[Judgement] = []
        for turn in played.turns:
            for place, tactic in enumerate(turn.tactic):
                agrees = (number + place + turn.index) % 3 > 0
                other = label(
                    tactic.dimension, LABELS[tactic.dimension].index(str(tactic.value)) + 1
                )
                value, second = (tactic.value, other) if agrees else (other, tactic.value)
                found.append(
                    Judgement(
                        case, arm, turn.index, kind, judge, tactic.dimension, value, agrees, words,
                        second if number % 2 else None,
                    )
                )  # fmt: skip
        right = number % 2 == 0
        goal = played.case.goal if right else GOALS[played.case.goal == GOALS[0]]
        misled = "misled" if goal == GOALS[0] else "not misled"
        for name, value in (("goal", goal), ("misled", misled)):
            if kind == "external" or name == "goal":
                found.append(Judgement(case, arm, None, kind, judge, name, value, right, words))
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


def let_people_answer(folder: Path, turns: Sequence[int] = (3,)) -> None:
    """Let two people review turns of three dialogues of a run, each changing an answer once."""
    connection = sqlite3.connect(folder / "run.sqlite")
    insert = connection.execute
    insert("insert into studies values (1, 's', 'review', 2, 0, '{}', 0)")
    for person, (code, labels) in enumerate(ANSWERS.items(), 1):
        insert("insert into annotators (seq, code, role, created_at)"
               " values (?, ?, 'annotator', 0)", (person, code))  # fmt: skip
        for item, label in enumerate(labels, 1):
            if person == 1:
                insert("insert into review_items (seq, study, dialogue, rank, category, reasons,"
                       " added_at) values (?, 1, ?, 1, '', '[]', 0)", (item, item))  # fmt: skip
            number = person * 10 + item
            insert("insert into assignments (seq, item, annotator, state, leased_until, opened_at,"
                   " origin) values (?, ?, ?, 'done', 0, 0, 'x')", (number, item, person))  # fmt: skip
            for revision, value in ((1, "Motivate"), (2, label)):
                add_pass(connection, item, LabelSource("human", code, "s"),
                         [LabelRow(turn, "intention", value) for turn in turns],
                         at=revision)  # fmt: skip
    connection.commit()
    give_names(folder, connection, ANSWERS)
    connection.close()


def give_names(folder: Path, run: sqlite3.Connection, codes: Iterable[str]) -> None:
    """Write down names beside a run, which must never be seen elsewhere."""
    with closing(connect_people(folder, run_mark(run))) as people:
        people.executemany(
            "insert or ignore into people (code, name, account) values (?, 'Secret Name', 0)",
            [(code,) for code in codes],
        )
