"""The dialogues the README opens with are said by the scenarios that ship."""

from __future__ import annotations

import re
from pathlib import Path

from pipeline.offline.staging import says
from scenarios.catalogue import Catalogue
from scenarios.lines.library import spoken_stage_lines

README = Path(__file__).parents[2] / "README.md"


def test_every_line_of_the_readme_s_dialogues_stands_in_a_scenario_or_its_stage_lines():
    texts = set()
    for entry in Catalogue.load(environment={}).entries.values():
        scenario = entry.scenario
        texts |= {fact.angle for fact in scenario.facts if fact.angle}
        texts |= set(scenario.opening.shared.hard_question) if scenario.opening.shared else set()
        if lines := spoken_stage_lines(entry.template):
            texts |= {line.text for line in (*lines.initiator, *lines.responder)}
    opening = README.read_text("utf-8").partition("## Try it")[0]
    spoken = re.findall(r"^[a-z]+ {2,}(\S.*?)(?: {3,}.*)?$", opening, re.MULTILINE)
    assert len(spoken) >= 10
    assert [said for said in spoken if not any(says(said, text) for text in texts)] == []
