from __future__ import annotations

import sys
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.graph import KnowledgeGraph
from scenarios.graph_drawing import to_png, to_svg
from scenarios.graph_layout import layout, text_width, wrap
from scenarios.spec import Scenario

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def graph(scenario):
    return KnowledgeGraph.of(scenario)


def test_the_initiator_sees_no_private_fact_and_the_responder_all_of_its_own(boat, graph):
    assert graph.visible_to("initiator").facts == ()
    assert [fact.id for fact in graph.visible_to("responder").facts] == ["leak", "radio", "paint"]
    boat["facts"][1]["owner"] = "initiator"
    shared = KnowledgeGraph.of(Scenario.model_validate(boat))
    assert [fact.id for fact in shared.visible_to("initiator").facts] == ["radio"]
    assert [fact.id for fact in shared.visible_to("responder").facts] == ["leak", "paint"]


def test_both_roles_hear_the_claims_of_the_statement_for_the_goal(graph):
    for role in ("initiator", "responder"):
        assert [c.id for c in graph.visible_to(role, goal="deception").heard] == ["ready"]
        assert [c.id for c in graph.visible_to(role).heard] == ["ready", "may_look"]


def test_contradictions_are_found_from_both_ends(graph):
    assert [fact.id for fact in graph.facts_against("ready")] == ["leak", "radio"]
    assert [claim.id for claim in graph.claims_against("leak")] == ["ready"]
    assert graph.claims_against("paint") == ()
    assert [c.id for c in graph.false_claims("leak", "deception")] == ["ready"]
    assert graph.false_claims("leak", "truthful non-disclosure") == ()


def test_evidence_is_found_for_the_fact_it_reveals(graph):
    assert [item.id for item in graph.evidence_for("leak")] == ["logbook"]
    assert graph.evidence_for("radio") == ()


def test_what_is_not_in_the_scenario_is_a_key_error(boat, graph):
    for ask in (graph.facts_against, graph.claims_against, graph.evidence_for):
        with pytest.raises(KeyError):
            ask("nothing")
    with pytest.raises(KeyError):
        graph.visible_to("initiator", goal="lying")
    boat["evidence"][0]["reveals"] = ["nothing"]
    with pytest.raises(KeyError):
        KnowledgeGraph.of(Scenario.model_validate(boat))


def test_the_edges_are_those_of_the_scenario(graph):
    assert graph.edges("knows") == tuple(
        ("role:responder", f"fact:{name}") for name in ("leak", "radio", "paint")
    )
    assert graph.edges("contradicts") == (
        ("fact:leak", "claim:ready"), ("fact:radio", "claim:ready"),
    )  # fmt: skip
    assert graph.edges("reveals") == (("evidence:logbook", "fact:leak"),)
    assert graph.graph.edges["role:responder", "claim:ready"]["goals"] == ("deception",)


_library = list(Catalogue.load(environment={}).scenarios.values())


@pytest.mark.parametrize("scenario", _library, ids=lambda scenario: scenario.id)
def test_no_two_boxes_overlap_and_every_line_fits_its_box(scenario):
    graph = KnowledgeGraph.of(scenario)
    boxes = layout(graph)
    assert set(boxes) == set(graph.graph.nodes)
    for a, b in combinations(boxes.values(), 2):
        apart = a.x + a.width <= b.x or b.x + b.width <= a.x
        assert apart or a.y + a.height <= b.y or b.y + b.height <= a.y, (a.node, b.node)
    for box in boxes.values():
        assert all(text_width(line) <= box.width for line in box.lines)


def test_the_drawing_is_xml_that_holds_every_text(graph, scenario):
    root = ElementTree.fromstring(to_svg(graph))
    drawn = " ".join(node.text or "" for node in root.iter(f"{SVG}text"))
    for fact in scenario.facts:
        assert all(word in drawn for word in fact.text.split())
    assert len(root.findall(f"{SVG}rect")) == 1 + len(graph.graph.nodes)


def test_the_edges_drawn_are_those_of_the_graph_and_one_of_each_in_the_legend(graph):
    root = ElementTree.fromstring(to_svg(graph))
    ends = [path.get("marker-end") for path in root.findall(f"{SVG}path")]
    for relation in ("knows", "states", "contradicts", "reveals"):
        assert ends.count(f"url(#{relation})") == len(graph.edges(relation)) + 1


@given(st.text(min_size=1, max_size=60).filter(lambda text: text.strip()))
def test_no_text_can_break_the_drawing(text):
    data = _library[0].model_dump()
    data["title"] = data["facts"][0]["text"] = data["roles"]["initiator"]["name"] = text
    graph = KnowledgeGraph.of(Scenario.model_validate(data))
    ElementTree.fromstring(to_svg(graph))


@given(st.text(max_size=80), st.integers(30, 300))
def test_wrapping_loses_nothing_and_keeps_the_width(text, width):
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(text_width(line) <= width for line in lines)


def test_png_without_its_package_is_refused_with_the_command_to_install_it(graph, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(UsageError, match="resvg-py"):
        to_png(graph)


def test_png_holds_a_picture(graph):
    pytest.importorskip("resvg_py", reason="the extra draw is not installed")
    assert to_png(graph, zoom=1).startswith(b"\x89PNG")
