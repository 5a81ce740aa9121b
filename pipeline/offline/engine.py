"""The provider ``offline/rules``: answers a prompt by rules, deterministically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import orjson

from pipeline.offline.authored import (
    authored_answer,
    authored_question,
    free_to_change,
    has_unsaid,
    keeping_to,
    weighed,
    within_reach,
)
from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.initiating import ask
from pipeline.offline.rationales import Reasons
from pipeline.offline.reacting import react
from pipeline.offline.reading import ActorRequest, AnswerKey, PromptNotUnderstood, read_prompt
from pipeline.offline.reflecting import reflect
from pipeline.offline.repertoire import nearest
from pipeline.offline.responding import Scene, read_scene, speak, speak_on
from pipeline.offline.screenwriting import is_screenplay, write_screenplay
from pipeline.offline.speaking import speak_in_flow
from pipeline.offline.staging import cast_of
from pipeline.offline.tactics import (
    ACT,
    AFFECT,
    INTENTION,
    LIE,
    REPERTOIRE,
    VERACITY,
    Tactic,
    Value,
    draw_tactic,
    draw_value,
    goal_mark,
    labels_wanted,
    veracity_weights,
)

__all__ = ["PromptNotUnderstood", "answer"]

_STEADY, _LOOSE, _WORDS, _NEAREST = 1, 2, 3, 4
_PLAIN = 80
"""Percent of the grammar's lines that are said plainly, as far as nothing else is wanted."""


def answer(messages: Sequence[tuple[str, str]], seed: int) -> str:
    """Return the JSON text that answers a prompt made from the shipped templates.

    Nothing but the (role, content) messages and the seed is read; equal input gives equal output.
    What is drawn depends on what is told of the case, and not on how the rules are worded.

    Raises:
        PromptNotUnderstood: a section the rules need is missing.
    """
    state = hash_texts(text for role, text in messages if role != "system")
    if is_screenplay(messages):
        return _json(write_screenplay(messages, state, seed))
    asked = read_prompt(messages)
    words = Dice(state, _WORDS, seed, asked.corrections)
    if asked.speaker:
        return _json(speak_in_flow(asked, state, seed))
    if asked.task == "initiator":
        question = authored_question(asked, seed) or ask(asked, seed)
        return _json({"utterance": react(asked, question, seed)})
    if asked.task == "reflect":
        return _json(reflect(asked, words))
    return _json(_respond(asked, state, seed, words))


def _json(value: dict[str, object]) -> str:
    return orjson.dumps(value).decode()


def _respond(asked: ActorRequest, state: int, seed: int, dice: Dice) -> dict[str, object]:
    """Answer as the one who knows: an utterance, the goal as assigned, a label per dimension."""
    goal = asked.line("Your goal", "Goal")
    cast = cast_of(asked, goal)
    asked = within_reach(asked, cast)
    named = labels_wanted(asked, goal)
    wanted = {**named, **asked.declared, **asked.wanted}
    scene = read_scene(asked, cast)
    weights: Mapping[str, int] = veracity_weights(goal_mark(goal), detailed=scene.detailed)
    weights = weighed(asked, cast, weights) if cast else weights
    if cast and scene.keeps_to:
        lies = bool(scene.covers) or has_unsaid(asked, cast, {VERACITY: LIE})
        weights = keeping_to(weights, lies=lies)
    tactic = _drawn(asked, goal, wanted, weights, (state, seed))
    # What the truth is to become is drawn before a line is looked for: lines that were written for a
    # question would have it follow from the question, and so from the place of the answer.
    named = {VERACITY: tactic.veracity, **named}
    kept = named if free_to_change(asked) else {**named, **wanted}
    spoken = authored_answer(asked, cast, kept, state, seed) if cast else None
    if spoken:
        wanted = {**spoken.line.labels, **asked.wanted}
        tactic = _drawn(asked, goal, wanted, weights, (state, seed))
    text = spoken.text if spoken else ""
    falsehood = cast.falsehood(spoken.line) if cast and spoken and text else ""
    if not text:
        steady = Dice(state, _NEAREST)
        if steady.chance(_PLAIN):
            tactic = _plainly(tactic, wanted, _open_labels(asked))
        if scene.takes_up and tactic.intention == AFFECT and INTENTION not in asked.wanted:
            tactic = replace(tactic, intention="Inform")  # few feelings name what was asked
        tactic, text = _in_other_words(asked, scene, tactic, named, (steady, dice))
    answered: dict[str, object] = {}
    for field in asked.fields:
        if field.name == "utterance":
            answered[field.name] = text
        elif not field.name.endswith("_rationale"):
            answered[field.name] = _label(field, tactic, goal, wanted, dice)
    if "plan" in answered:
        labels = {k: v for k, v in answered.items() if k not in ("plan", "utterance") and v != goal}
        answered["plan"] = ", ".join(f"{name} {_shown(label)}" for name, label in labels.items())
    reasons = Reasons(
        text,
        about=asked.line("What only you know", "It concerns"),
        hearer=asked.line("The other person", "Role"),
        falsehood=falsehood,
    )
    for field in asked.fields:
        if field.name.endswith("_rationale"):
            dimension = field.name.removesuffix("_rationale")
            label = _shown(answered.get(dimension, dimension))
            answered[field.name] = reasons.of(dimension, label, dice)
    return {field.name: answered[field.name] for field in asked.fields}


def _in_other_words(
    asked: ActorRequest,
    scene: Scene,
    tactic: Tactic,
    named: Mapping[str, str],
    drawn: tuple[Dice, Dice],
) -> tuple[Tactic, str]:
    """Return the labels nearest to a tactic that there are words for, and the words."""
    steady, dice = drawn
    found = nearest(
        tactic,
        asked,
        scene,
        named=named,
        open_acts=_open_labels(asked),
        dice=steady,
    )
    if found.line is None:
        return found.tactic, speak(scene, found.tactic, dice)
    if found.tactic.intention == found.line.labels.get(INTENTION):
        return found.tactic, found.line.text
    return found.tactic, speak_on(found.line.text, scene, found.tactic, dice)


def _plainly(tactic: Tactic, wanted: Mapping[str, str], open_acts: Sequence[str]) -> Tactic:
    """Return the labels with which most people would say it, as far as nobody wants others."""
    act = "Commissives" if tactic.veracity == "None" else "Representatives"
    if ACT not in wanted and (not open_acts or act in open_acts):
        tactic = replace(tactic, act=act)
    told = tactic.veracity == "Quantity"
    answers = told or tactic.veracity in (LIE, "Manner")
    if INTENTION not in wanted and answers and (told or tactic.intention == "Motivate"):
        tactic = replace(tactic, intention="Inform")
    return tactic


def _drawn(
    asked: ActorRequest,
    goal: str,
    wanted: dict[str, str],
    weights: Mapping[str, int],
    start: tuple[int, int],
) -> Tactic:
    """Return the labels that are drawn, or wanted; ``start`` is the state and the seed."""
    state, seed = start
    return draw_tactic(
        asked.fields,
        wanted,
        mark=goal_mark(goal),
        open_acts=_open_labels(asked),
        veracity=weights,
        steady=Dice(state, _STEADY),
        loose=Dice(state, _LOOSE, seed),
    )


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _label(
    field: AnswerKey, tactic: Tactic, goal: str, wanted: dict[str, str], dice: Dice
) -> Value:
    """Return the value of a key: the goal as assigned, what the utterance carries, else a draw."""
    if goal in field.options:
        return goal
    label = tactic.labels.get(field.name)
    if label in field.options and set(field.options) <= set(REPERTOIRE[field.name]):
        return label
    return draw_value(field, wanted.get(field.name), dice)


def _open_labels(asked: ActorRequest) -> tuple[str, ...]:
    text = asked.sections.get("Acts open to you", "").partition("Open to you:")[2]
    first = text.strip().splitlines()[:1]
    return tuple(part.strip() for part in "".join(first).split("|") if part.strip())
