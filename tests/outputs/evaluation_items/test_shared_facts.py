"""What two people know stands in a set once for each of them, and is one fact when it is read."""

from __future__ import annotations

from typing import Any

from outputs.dataset.scenes import listed_people
from outputs.evaluation_items.rows import benchmark_item
from outputs.selecting.arm_facts import ArmFacts
from outputs.selecting.selection import SelectedDialogue
from prompts.tasks.items import fact_views, scene_view
from scenarios.located import Located
from tests.sixth_scheme.material import held, mediation, shared_secret


def test_what_two_people_know_comes_back_as_one_fact_of_both() -> None:
    scenario = shared_secret()
    selected = SelectedDialogue(held(), scenario, ArmFacts("a", "direct", {}), None, None)  # type: ignore[arg-type]
    scene = scene_view(scenario, "en", listed=True)
    people: dict[str, Any] = dict(listed_people(selected, scene))
    assert [one["role"] for one in people["private"]] == ["owner", "mediator", "tenant"]
    row = {
        "id": "x", "case": "c", "scenario": scenario.id, "situation": scenario.background,
        "initiator": "", "responder": "", "utterance": "No.", "role": "owner",
        "aspect": "utterance", "label_move": "refuse", **people,
    }  # fmt: skip
    asked = benchmark_item(Located(row, "rows.jsonl"), mediation()).asked
    assert asked.facts == fact_views(scenario)
