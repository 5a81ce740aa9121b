"""The knowledge graph of a scenario: who knows what, which claims a fact makes false, what reveals it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import networkx as nx

from scenarios.spec import Claim, Evidence, Fact, RoleKey, Scenario

Kind = Literal["role", "fact", "claim", "evidence"]
Relation = Literal["knows", "states", "contradicts", "reveals"]


@dataclass(frozen=True, slots=True)
class View:
    """What one role may see of a scenario."""

    background: str
    role: RoleKey
    heard: tuple[Claim, ...]
    """The claims of the opening statement."""
    facts: tuple[Fact, ...]
    """The private facts it owns; none of the other's."""


@dataclass(frozen=True)
class KnowledgeGraph:
    """The roles, facts, claims and evidence of a scenario as a directed graph.

    Nodes are named ``kind:id`` and carry ``kind``, ``label`` and ``text``; edges carry
    ``relation``: a role *knows* a fact, the responder *states* a claim (``goals`` says for which
    goals), a fact *contradicts* a claim, evidence *reveals* a fact.
    """

    scenario: Scenario
    graph: nx.DiGraph[str]

    @classmethod
    def of(cls, scenario: Scenario) -> KnowledgeGraph:
        """Build the graph of a scenario.

        Raises:
            KeyError: something refers to a fact or claim that does not exist.
        """
        graph: nx.DiGraph[str] = nx.DiGraph()
        for key, role in scenario.roles.items():
            _add(graph, "role", key, role.name, role.description)
        for fact in scenario.facts:
            _add(graph, "fact", fact.id, fact.about, fact.text)
            graph.nodes[f"fact:{fact.id}"]["bearing"] = fact.bearing
        for claim in scenario.claims:
            _add(graph, "claim", claim.id, claim.id.replace("_", " "), claim.text)
        for item in scenario.evidence:
            _add(graph, "evidence", item.id, item.label, item.label)
        for fact in scenario.facts:
            _link(graph, "knows", f"role:{fact.owner}", f"fact:{fact.id}")
            for claim_id in fact.contradicts:
                _link(graph, "contradicts", f"fact:{fact.id}", f"claim:{claim_id}")
        for goal, statement in scenario.opening.statements.items():
            for claim_id in statement.claims:
                _link(graph, "states", "role:responder", f"claim:{claim_id}")
                edge = graph.edges["role:responder", f"claim:{claim_id}"]
                edge["goals"] = (*edge.get("goals", ()), goal)
        for item in scenario.evidence:
            for fact_id in item.reveals:
                _link(graph, "reveals", f"evidence:{item.id}", f"fact:{fact_id}")
        return cls(scenario, graph)

    def visible_to(self, role: RoleKey, *, goal: str | None = None) -> View:
        """Return what a role may see: what is public, what it heard said, and its own facts.

        Args:
            role: who looks.
            goal: the goal of the dialogue, which decides what the responder's statement claims;
                None for the claims of every statement.

        Raises:
            KeyError: the goal has no opening statement.
        """
        if goal is None:
            stated = set(self._following("role:responder", "states"))
        else:
            stated = {f"claim:{c}" for c in self.scenario.opening.statement_for(goal).claims}
        known_facts = set(self._following(f"role:{role}", "knows"))
        return View(
            background=self.scenario.background,
            role=role,
            heard=tuple(c for c in self.scenario.claims if f"claim:{c.id}" in stated),
            facts=tuple(f for f in self.scenario.facts if f"fact:{f.id}" in known_facts),
        )

    def facts_against(self, claim_id: str) -> tuple[Fact, ...]:
        """Return the facts that cannot be true if the claim is.

        Raises:
            KeyError: there is no such claim.
        """
        against = self._leading(f"claim:{claim_id}", "contradicts")
        return tuple(self.scenario.fact(node.removeprefix("fact:")) for node in against)

    def claims_against(self, fact_id: str) -> tuple[Claim, ...]:
        """Return the claims that the fact makes false.

        Raises:
            KeyError: there is no such fact.
        """
        against = set(self._following(f"fact:{fact_id}", "contradicts"))
        return tuple(c for c in self.scenario.claims if f"claim:{c.id}" in against)

    def evidence_for(self, fact_id: str) -> tuple[Evidence, ...]:
        """Return what would bring the fact to light.

        Raises:
            KeyError: there is no such fact.
        """
        revealing = set(self._leading(f"fact:{fact_id}", "reveals"))
        return tuple(e for e in self.scenario.evidence if f"evidence:{e.id}" in revealing)

    def false_claims(self, fact_id: str, goal: str) -> tuple[Claim, ...]:
        """Return the claims of the opening statement for ``goal`` that the fact makes false.

        Raises:
            KeyError: there is no such fact, or the goal has no opening statement.
        """
        stated = self.scenario.opening.statement_for(goal).claims
        return tuple(claim for claim in self.claims_against(fact_id) if claim.id in stated)

    def nodes(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of the nodes of one kind, in the order of the scenario."""
        return tuple(node for node, data in self.graph.nodes(data=True) if data["kind"] == kind)

    def edges(self, relation: Relation) -> tuple[tuple[str, str], ...]:
        """Return the edges of one relation."""
        return tuple(
            (left, right)
            for left, right, data in self.graph.edges(data=True)
            if data["relation"] == relation
        )

    def _following(self, node: str, relation: Relation) -> Iterable[str]:
        self._known(node)
        edges = self.graph.out_edges(node, data=True)
        return [right for _, right, data in edges if data["relation"] == relation]

    def _leading(self, node: str, relation: Relation) -> Iterable[str]:
        self._known(node)
        edges = self.graph.in_edges(node, data=True)
        return [left for left, _, data in edges if data["relation"] == relation]

    def _known(self, node: str) -> None:
        if node not in self.graph:
            raise KeyError(node)


def _add(graph: nx.DiGraph[str], kind: Kind, name: str, label: str, text: str) -> None:
    graph.add_node(f"{kind}:{name}", kind=kind, label=label, text=text)


def _link(graph: nx.DiGraph[str], relation: Relation, left: str, right: str) -> None:
    for node in (left, right):
        if node not in graph:
            raise KeyError(node)
    graph.add_edge(left, right, relation=relation)
