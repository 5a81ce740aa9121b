"""The authored lines of the family ``persuasion``: enough for every phase, and labelled as the scheme allows."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.catalogue import Catalogue
from scenarios.lines.library import FOLDER
from scenarios.pack import FAMILIES
from scenarios.schemes.registry import load_scheme
from scenarios.wording import sentences
from scenarios.yaml_source import read_yaml

SCHEME = load_scheme("face_acts")
ENTRIES = Catalogue.load([FAMILIES / "persuasion"], environment={}).entries
FAMILY = [e.scenario for e in ENTRIES.values() if e.scenario.scheme == "face_acts"]
IDS = [scenario.id for scenario in FAMILY]


def moments(scenario):
    """Yield (phase, role, alternatives) of every moment."""
    flow: Any = read_yaml(FOLDER / "stage" / f"{scenario.id}.yaml").data
    for phase, roles in flow["flow"].items():
        for role, said in roles.items():
            for moment in said:
                yield phase, role, moment if isinstance(moment, list) else [moment]


def test_there_are_at_least_four_scenarios():
    assert len(FAMILY) >= 4


@pytest.mark.parametrize("scenario", FAMILY, ids=IDS)
def test_a_dialogue_has_twenty_exchanges_and_lines_for_its_longest_form(scenario):
    assert sum(phase.rounds[0] for phase in scenario.flow) >= 20
    assert len(scenario.flow) >= 4
    there: dict[tuple[str, str], int] = {}
    for phase, role, _ in moments(scenario):
        there[phase, role] = there.get((phase, role), 0) + 1
    wanted = {(phase.id, role): phase.rounds[1] for phase in scenario.flow for role in phase.who}
    assert there == wanted


@pytest.mark.parametrize("scenario", FAMILY, ids=IDS)
def test_lines_are_short_said_once_and_labelled_as_the_scheme_allows(scenario):
    texts = []
    for phase, role, alternatives in moments(scenario):
        for line in alternatives:
            texts.append(line["text"])
            assert len(sentences(line["text"])) <= 3, line["text"]
            face_act, intention = line["labels"]["face_act"], line["labels"].get("intention")
            assert face_act in SCHEME.dimension("face_act").values
            choices = SCHEME.dimension("intention").choices(role, {"face_act": face_act})
            allowed = {label.id for label in choices} or {None}
            assert intention in allowed, (phase, line["text"])
    assert len(set(texts)) == len(texts)


def test_every_intention_is_said_by_somebody():
    used = {
        line["labels"].get("intention")
        for scenario in FAMILY
        for _, _, alternatives in moments(scenario)
        for line in alternatives
    }
    assert used >= set(SCHEME.dimension("intention").values)
