"""A rationale is no reason but copied: a label, what was said, or a line of the scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from quality.gates.protocol import GatedDialogue, GateExtension, NoSettings, quoted
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Flag
from scenarios.wording import sentences, words

Texts = tuple[tuple[str, str], ...]
"""Texts, each after what it is."""


@dataclass(frozen=True, slots=True)
class RationaleCopied:
    """Compares the rationales of answers with what their prompt held, and with the words said.

    Only equal texts count, whatever their case and punctuation: a rationale may quote.
    """

    code: ClassVar[str] = "rationale_copied"

    def check(self, subject: GatedDialogue) -> list[Flag]:
        """Flag every answer one of whose rationales is a copy; the first one is named."""
        given = _by_words(_names(subject.scheme) + _scene(subject.scenario))
        said: dict[tuple[str, ...], str] = {}
        found = []
        for turn in subject.dialogue.turns:
            own = words(turn.text)
            sources = {**said, own: "the utterance itself"} if turn.is_answer else {}
            for label in turn.tactic if turn.is_answer else ():
                reason = words(label.rationale)
                source = (sources.get(reason) or given.get(reason)) if reason else None
                if source is not None:
                    told = f"the rationale of {label.dimension} is {source}"
                    flag = subject.flag(self.code, f"{told}: {quoted(label.rationale)}", turn)
                    found.append(flag)
                    break
            said[own] = f"what was said in turn {turn.index}"
        return found


@lru_cache(maxsize=64)
def _by_words(texts: Texts) -> Mapping[tuple[str, ...], str]:
    """Return what each text is by its words, and the same for each of its sentences."""
    parts = [(what, part) for what, text in texts for part in (text, *sentences(text))]
    return {words(part): what for what, part in reversed(parts)}


def _names(scheme: Scheme) -> Texts:
    """Return the names of dimensions and labels."""
    names = [(f"a label of {d.id}", label.id) for d in scheme.declared for label in d.labels]
    names += [("the name of a dimension", n) for d in scheme.declared for n in (d.id, d.title)]
    return tuple(names)


def _scene(scenario: Scenario | None) -> Texts:
    """Return what the prompt of the responder says of situation, people and facts."""
    if scenario is None:
        return ()
    texts = [("a line of the situation", scenario.background)]
    for role in scenario.roles.values():
        texts += [("the description of a role", role.description), ("the aim of a role", role.aim)]
    for fact in scenario.facts:
        texts += [("a private fact", fact.text), ("what a fact is about", fact.about)]
    return tuple(texts)


GATE = GateExtension(RationaleCopied.code, NoSettings, lambda _: RationaleCopied())
