"""What ``hipo audit`` finds and what it lets be: planted shortcuts, clean sets, offline dialogues.

Clean sets are simulated a hundred times: at most five of them may be called anything else. What
makes that hard is in the simulation: the two cases of a pair are asked for the same labels and have
the same people, lines of a scenario resemble each other, the scheme ties labels to the goal, and
whoever asks takes up what was a lie. Then one shortcut at a time is planted in them, stronger and
stronger. At last 3,000 dialogues of ``offline/rules`` with shared openings, with labels wanted of
answers and with none, the same with openings by goal, and an exported set with a comma in the
initiator's lines under one goal.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import orjson

from benchmarks.report import Goal, Row
from hipo.app.audit import audit
from hipo.cli.main import run as hipo
from outputs.audit.auditing import audit_dialogues
from outputs.audit.corpus import AuditCorpus, AuditedAnswer, AuditedDialogue
from outputs.audit.findings import Audit
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme

SCENARIOS, PAIRS = 31, 12
SEEDS = 100
FALSE_ALARMS = 5
LIE = "Quality"
Planting = Callable[[AuditedDialogue, np.random.Generator], AuditedDialogue]


def simulated(
    seed: int, *, scenarios: int = SCENARIOS, pairs: int = PAIRS, planting: Planting | None = None
) -> AuditCorpus:
    """Return dialogues in which nothing but the scheme's own rules connects goal and labels.

    Args:
        seed: of everything that is drawn.
        scenarios: how many there are.
        pairs: pairs of cases in each.
        planting: changes a dialogue so that something tells its goal.
    """
    rng = np.random.default_rng(seed)
    scheme = load_scheme("hipo")
    dialogues = [
        dialogue if planting is None else planting(dialogue, rng)
        for scenario in range(scenarios)
        for dialogue in map(_taking_up_lies, _scenario(rng, scheme, scenario, pairs))
    ]
    return AuditCorpus(
        name=f"simulated {seed}",
        goal_dimension=scheme.assigned,
        dimensions=tuple(d.id for d in scheme.utterance_dimensions),
        dialogues=tuple(dialogues),
        known=frozenset(("lines", "variation", "fact text")),
        of=len(dialogues),
        scheme=scheme,
    )


def _scenario(
    rng: np.random.Generator, scheme: Scheme, scenario: int, pairs: int
) -> Iterator[AuditedDialogue]:
    own = [f"thing{scenario}x{number}" for number in range(30)]
    openings = ["\n".join(_line(rng, own) for _ in range(3)) for _ in range(3)]
    usual = {d.id: rng.dirichlet(np.full(len(d.values), 8.0)) for d in scheme.utterance_dimensions}
    for number in range(pairs):
        answers = int(rng.integers(1, 4))
        wanted = [_labels(rng, scheme, usual) for _ in range(answers)]
        must = int(rng.integers(answers))
        opening, persona = openings[rng.integers(3)], f"p{rng.integers(6)}"
        for goal in scheme.goal.values:
            questions = [_line(rng, own) + "?" for _ in range(answers)]
            yield AuditedDialogue(
                case=rng.bytes(10).hex(),
                pair=f"{scenario}/{number}",
                arm="a",
                scenario=f"s{scenario}",
                fact=f"fact_{number % 6}",
                goal=goal,
                answers=tuple(
                    AuditedAnswer(
                        3 + 2 * place,
                        _line(rng, own),
                        _allowed(rng, scheme, goal, labels, usual["veracity"], must=place == must),
                        questions[place],
                        questions[place + 1] if place + 1 < answers else "",
                    )
                    for place, labels in enumerate(wanted)
                ),
                opening=opening,
                asked="\n".join([opening, *questions]),
                fact_text=_line(rng, own, 25),
                traits={"persona_responder": persona, "register": f"r{rng.integers(3)}"},
                made_by={"strategy": "direct", "model": "simulated"},
            )


def _line(rng: np.random.Generator, own: list[str], words: int = 0) -> str:
    """Return words of everybody's and of the scenario, in sentences with commas here and there."""
    count = words or int(rng.integers(8, 26))
    said = [
        own[rng.integers(len(own))] if rng.random() < 0.3 else f"word{int(rng.zipf(1.4)) % 300}"
        for _ in range(count)
    ]
    return " ".join(word + ("," if rng.random() < 0.1 else "") for word in said)


def _labels(
    rng: np.random.Generator, scheme: Scheme, usual: dict[str, np.typing.NDArray[np.float64]]
) -> dict[str, str]:
    return {
        d.id: d.values[rng.choice(len(d.values), p=usual[d.id])]
        for d in scheme.utterance_dimensions
    }


def _allowed(
    rng: np.random.Generator,
    scheme: Scheme,
    goal: str,
    labels: dict[str, str],
    usual: np.typing.NDArray[np.float64],
    *,
    must: bool,
) -> dict[str, str]:
    """Return the labels that a pair was to have, but for what the goal rules out or asks for.

    Something false is never said under the truthful goal, and once at least under the other. What is
    said in its place is as usual, so that answers that say nothing false tell nothing.
    """
    if goal == scheme.goal.values[0]:
        return {**labels, "veracity": LIE} if must else labels
    if labels["veracity"] != LIE:
        return labels
    values = scheme.dimension("veracity").values
    weights = np.where(np.array(values) == LIE, 0.0, usual)
    return {**labels, "veracity": values[rng.choice(len(values), p=weights / weights.sum())]}


def _told(dialogue: AuditedDialogue, rng: np.random.Generator, strength: float) -> bool:
    """Return whether a shortcut shows: by so much oftener under the first goal than under others."""
    return bool(rng.random() < 0.5 + strength * (0.5 if dialogue.goal == "deception" else -0.5))


def comma_in_questions(strength: float, *, later: bool = False) -> Planting:
    """Return what ends the initiator's lines in a comma and a word, mostly under one goal.

    Args:
        strength: by how much oftener under that goal.
        later: whether only in lines that follow an answer.
    """

    def plant(dialogue: AuditedDialogue, rng: np.random.Generator) -> AuditedDialogue:
        if not _told(dialogue, rng, strength):
            return dialogue
        asked = [answer.before.replace("?", ", tell me?") for answer in dialogue.answers]
        if later:
            asked[0] = dialogue.answers[0].before
        return _asking(dialogue, asked)

    return plant


def _taking_up_lies(dialogue: AuditedDialogue) -> AuditedDialogue:
    """Let the initiator begin a line otherwise after a lie than after anything else."""
    earlier = [None, *(answer.labels["veracity"] for answer in dialogue.answers)]
    return _asking(
        dialogue,
        [
            f"I see, then {answer.before}" if before == LIE else answer.before
            for before, answer in zip(earlier, dialogue.answers, strict=False)
        ],
    )


def _asking(dialogue: AuditedDialogue, asked: list[str]) -> AuditedDialogue:
    """Return a dialogue with other lines of the initiator, one before each answer."""
    answers = tuple(
        replace(answer, before=before, after=after)
        for answer, before, after in zip(dialogue.answers, asked, [*asked[1:], ""], strict=True)
    )
    return replace(dialogue, answers=answers, asked="\n".join([dialogue.opening, *asked]))


def comma_in_answers(strength: float) -> Planting:
    """Return what puts a comma into the answers, mostly under one goal: the surface of the words."""

    def plant(dialogue: AuditedDialogue, rng: np.random.Generator) -> AuditedDialogue:
        if not _told(dialogue, rng, strength):
            return dialogue
        answers = tuple(replace(a, text=f"Well, {a.text}") for a in dialogue.answers)
        return replace(dialogue, answers=answers)

    return plant


def persona_for_goal(strength: float) -> Planting:
    """Return what gives the responder one persona mostly under one goal."""

    def plant(dialogue: AuditedDialogue, rng: np.random.Generator) -> AuditedDialogue:
        persona = "sly" if _told(dialogue, rng, strength) else "plain"
        return replace(dialogue, traits={**dialogue.traits, "persona_responder": persona})

    return plant


PLANTED: dict[str, tuple[Callable[[float], Planting], str, tuple[float, ...]]] = {
    "a comma in the initiator's lines": (comma_in_questions, "line before", (0.1, 0.2, 0.4)),
    "a comma in those after an answer": (
        partial(comma_in_questions, later=True), "line before", (0.8,)
    ),
    "a persona": (persona_for_goal, "variation", (0.1, 0.2, 0.4)),
}  # fmt: skip
"""By name: what plants it, what reads it, and by how much oftener it shows under one goal than under
the other; the last of these is to be found."""


def false_alarms(seeds: int) -> int:
    """Return in how many clean sets the audit finds a shortcut."""
    audits = (audit_dialogues(simulated(seed), seed=seed) for seed in range(seeds))
    return sum(bool(found.shortcuts) for found in audits)


def reads(found: Audit, probe: str, dimension: str) -> bool:
    """Return whether an audit found one shortcut."""
    return any((f.probe, f.dimension) == (probe, dimension) for f in found.shortcuts)


def score(found: Audit, probe: str, dimension: str) -> float:
    """Return what a probe reaches on a dimension."""
    return next(
        f.score for f in found.findings if (f.probe, f.dimension) == (probe, dimension)
        and f.kind != "tied"
    )  # fmt: skip


def _simulations(seeds: int) -> Iterator[Row]:
    size = f"{2 * SCENARIOS * PAIRS} simulated dialogues, {SCENARIOS} scenarios"
    yield Row(
        f"{size}, nothing planted: sets of {seeds} with a false alarm",
        false_alarms(seeds),
        goal=Goal.below(FALSE_ALARMS * seeds / SEEDS),
    )
    for name, (planting, probe, strengths) in PLANTED.items():
        for strength in strengths:
            trials = max(2, seeds // 10)
            audits = [
                audit_dialogues(simulated(1_000 + seed, planting=planting(strength)), seed=seed)
                for seed in range(trials)
            ]
            yield Row(
                f"{size}, {name} {strength:.0%} oftener under one goal: found in {trials}",
                sum(reads(found, probe, "goal") for found in audits),
                goal=Goal.above(trials) if strength == strengths[-1] else None,
            )


def _offline(folder: Path, dialogues: int) -> Iterator[Row]:
    for tactics, openings, told in (
        ("balanced", "shared", False), ("free", "shared", False), ("balanced", "by-goal", True)
    ):  # fmt: skip
        run = folder / f"{tactics}-{openings}"
        _hipo(
            f"generate hipo-paper --model offline/rules --strategy direct --tactics {tactics}"
            f" --vary persona,register,style,opening --openings {openings} -n {dialogues} -o {run} -q"
        )
        began = time.process_time()
        found = audit(run)
        seconds = time.process_time() - began
        name = f"{found.dialogues:,} offline dialogues, tactics {tactics}, openings {openings}"
        again = score(found, "opening again", "goal")
        yield Row(
            f"{name}: AUC of the goal from lines that come again",
            again,
            goal=Goal.above(0.9) if told else Goal.below(0.55),
        )
        yield Row(f"{name}: AUC of the goal from openings of other scenarios",
                  score(found, "opening", "goal"))  # fmt: skip
        goal = [f for f in found.shortcuts if f.dimension == "goal"]
        yield Row(
            f"{name}: must-not probes that read the goal",
            len(goal),
            goal=Goal.above(1) if told else Goal.below(0),
        )
        others = [f"{f.probe} {f.dimension}" for f in found.shortcuts if f not in goal]
        yield Row(f"{name}: of labels of answers ({', '.join(others) or 'none'})", len(others))
        yield Row(f"{name}: seconds of processor time", seconds)


def _planted_set(folder: Path) -> Iterator[Row]:
    """Export a set, put a comma into lines under one goal, and audit it."""
    whole = folder / "set"
    _hipo(
        f"export {folder / 'balanced-shared'} --to benchmark --any --splits 100,0,0 --no-parquet -o {whole} -q"
    )
    for role, probe in (("initiator", "line before"), ("responder", "punctuation")):
        planted = folder / role
        shutil.copytree(whole, planted)
        plant_commas(whole / "jsonl" / "train.jsonl", planted / "jsonl" / "train.jsonl", role)
        found = audit(planted)
        name = f"exported set, a comma in the {role}'s lines under deception"
        yield Row(
            f"{name}: AUC of the goal from {probe}", score(found, probe, "goal"),
            goal=Goal.above(0.8),
        )  # fmt: skip
        yield Row(
            f"{name}: found and gated",
            float(reads(found, probe, "goal")),
            goal=Goal.above(1) if role == "initiator" else Goal.below(0),
        )


def plant_commas(source: Path, target: Path, role: str) -> None:
    """Copy the rows of a benchmark set, with a comma in every line of a role under deception."""
    with source.open("rb") as rows, target.open("wb") as file:
        for line in rows:
            row = orjson.loads(line)
            if row["goal"] == "deception":
                for said in row["context"]:
                    if said["role"] == role:
                        said["content"] = f"So, {said['content']}"
                if role == "responder" and row["utterance"]:
                    row["utterance"] = f"So, {row['utterance']}"
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def _hipo(command: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        code = hipo(command.split())
    if code != 0:
        raise RuntimeError(f"hipo {command} ended with {code}")


def run(*, quick: bool = False) -> list[Row]:
    """Simulate, generate and audit; ``quick`` simulates a tenth and generates a fifth."""
    rows = list(_simulations(SEEDS // 10 if quick else SEEDS))
    with tempfile.TemporaryDirectory() as folder:
        rows += _offline(Path(folder), 600 if quick else 3_000)
        rows += _planted_set(Path(folder))
    return rows
