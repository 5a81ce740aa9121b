"""How long the parts of the actors' system messages are, in words: short enough for small models."""

from __future__ import annotations

import re

import pytest

from prompts.actors import ActorPrompts, initiator_view
from prompts.environment import Templates
from prompts.first_templates import first_sources
from prompts.scheme_text import scheme_text

_PART = re.compile(r"^(?:# (.+)|((?:How|What|Form)[^-\n]*):)$")
BOUNDS = {
    "initiator": {"Task": (35, 55), "Rules": (80, 120), "Answer format": (30, 50)},
    "responder": {
        "Task": (60, 85), "How the RESPONDER talks": (85, 115),
        "What the RESPONDER knows": (80, 105), "How to label the line": (45, 75),
        "Form": (35, 55), "Answer format": (70, 100),
    },
    "reflect": {
        "Task": (70, 95), "How to check a label": (65, 95),
        "How to judge the fit, apart from the labels": (65, 95), "Form": (30, 50),
        "Answer format": (40, 75),
    },
    "revise": {
        "Task": (80, 105), "How the RESPONDER talks": (85, 115),
        "What the RESPONDER knows": (80, 105), "How to rewrite": (65, 95), "Form": (45, 65),
        "Answer format": (70, 100),
    },
}  # fmt: skip
"""Fewest and most words of each part that is not the scheme's: the rules are not what is cut."""


def words_of(question, of_the_scheme):
    """Return the words of each part of a system message, without what the scheme says."""
    text = question.messages[0].content
    for told in of_the_scheme:
        text = text.replace(told, "")
    counts, part = {}, ""
    for line in text.splitlines():
        if found := _PART.match(line):
            part = found[1] or found[2]
        counts[part] = counts.get(part, 0) + len(line.split())
    return {name: count for name, count in counts.items() if count > 2}


def scheme_parts(prompts, scheme):
    told = {"scheme": scheme_text(scheme)}
    return [prompts.templates.render(name, told) for name in ("labels.j2", "rules.j2")]


@pytest.fixture
def asked(prompts, hipo, used_car, case_of, view, history, draft, critiques):
    def build(made):
        return {
            "initiator": made.initiator(initiator_view(used_car, case_of()), history),
            "responder": made.responder(view, history),
            "reflect": made.reflect(view, history, draft),
            "revise": made.revise(view, history, draft, critiques),
        }

    return build


@pytest.mark.parametrize("kind", BOUNDS)
def test_every_part_is_as_long_as_it_has_to_be(asked, prompts, hipo, kind):
    counts = words_of(asked(prompts)[kind], scheme_parts(prompts, hipo))
    for name, (fewest, most) in BOUNDS[kind].items():
        assert fewest <= counts[name] <= most, (name, counts[name])


def test_the_prompts_are_about_two_thirds_of_what_they_were(asked, prompts, hipo):
    first = ActorPrompts(Templates(stored=first_sources()), hipo)
    before = {
        k: sum(words_of(q, scheme_parts(first, hipo)).values()) for k, q in asked(first).items()
    }
    now = {
        k: sum(words_of(q, scheme_parts(prompts, hipo)).values()) for k, q in asked(prompts).items()
    }
    assert sum(now.values()) / sum(before.values()) < 0.7
    assert now["initiator"] / before["initiator"] <= 0.4


def test_no_prompt_shows_an_answer_that_could_be_copied(asked, prompts):
    for question in asked(prompts).values():
        system = question.messages[0].content
        assert system.count("{") == 1
        assert '"utterance": "<text>"' in system or "carried" in system
