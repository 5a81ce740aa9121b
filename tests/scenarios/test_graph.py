from __future__ import annotations

import sys
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.graph import SHARED, KnowledgeGraph
from scenarios.graph_drawing import to_png, to_svg
from scenarios.graph_layout import layout, text_width, wrap
from scenarios.spec import Scenario

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def graph(scenario):
    return KnowledgeGraph.of(scenario)


def test_what_a_fact_makes_false_is_found(graph):
    assert [claim.id for claim in graph.claims_against("leak")] == ["ready"]
    assert [claim.id for claim in graph.claims_against("paint")] == ["varnish_only"]


def test_the_truth_of_a_pair_is_what_was_decided_and_none_where_nothing_was(graph):
    assert graph.truth("ready", "leak") == "false"
    assert graph.truth("twelve", "leak") == "true"
    assert graph.truth("ready", "paint") == "open"
    assert graph.truth("varnish_only", "leak") is None


def test_a_cover_is_a_claim_with_the_gain_it_brings(graph):
    assert [claim.text for claim in graph.covers("paint")] == [
        "The rail was varnished for the season and nothing else."
    ]
    assert graph.graph.edges["fact:paint", "claim:varnish_only"]["gain"] == "self"


def test_what_is_not_in_the_scenario_is_a_key_error(boat, graph):
    for ask in (graph.claims_against, graph.covers, graph.claim):
        with pytest.raises(KeyError):
            ask("nothing")
    boat["evidence"][0]["reveals"] = ["nothing"]
    with pytest.raises(KeyError):
        KnowledgeGraph.of(Scenario.model_validate(boat))


def test_the_edges_are_those_of_the_scenario(graph):
    assert graph.edges("knows") == tuple(
        ("role:responder", f"fact:{name}") for name in ("leak", "radio", "paint")
    )
    assert graph.edges("cover") == (
        ("fact:leak", "claim:ready"), ("fact:radio", "claim:ready"), ("fact:paint", "claim:varnish_only"),
    )  # fmt: skip
    assert graph.edges("reveals") == (("evidence:logbook", "fact:leak"),)
    assert graph.graph.edges["role:responder", "claim:ready"]["goals"] == ("deception",)
    assert graph.graph.edges["role:responder", "claim:twelve"]["goals"] == (SHARED,)


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


def test_a_line_in_arabic_has_a_direction_of_its_own_in_the_drawing(boat):
    said = "\u062c\u0641 \u0627\u0644\u0633\u0631\u062e\u0633."
    boat["claims"][0]["text"] = said
    root = ElementTree.fromstring(to_svg(KnowledgeGraph.of(Scenario.model_validate(boat))))
    own = {node.text: node.get("unicode-bidi") for node in root.iter(f"{SVG}text")}
    assert own.pop(said) == "plaintext"
    assert set(own.values()) == {None}


def test_the_edges_drawn_are_those_of_the_graph_and_one_of_each_in_the_legend(graph):
    root = ElementTree.fromstring(to_svg(graph))
    ends = [path.get("marker-end") for path in root.findall(f"{SVG}path")]
    for relation in ("knows", "states", "makes_false", "cover", "misleads", "reveals"):
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
