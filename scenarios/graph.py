"""The knowledge graph of a scenario: who knows what, which claims a fact makes false, what reveals it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from scenarios.spec import Claim, Scenario

if TYPE_CHECKING:
    import networkx as nx

Kind = Literal["role", "fact", "claim", "evidence"]
Relation = Literal["knows", "states", "makes_false", "cover", "misleads", "reveals"]
Truth = Literal["false", "misleads", "true", "open"]
"""What a fact does to a claim, for a speaker who knows the scene and this fact and nothing else."""
SHARED: Final = "shared"
"""In place of a goal: the claim is made by an opening that all goals share."""


@dataclass(frozen=True)
class KnowledgeGraph:
    """The roles, facts, claims and evidence of a scenario as a directed graph.

    Nodes are named ``kind:id`` and carry ``kind``, ``label`` and ``text``; edges carry
    ``relation``: a role *knows* a fact, the responder *states* a claim (``goals`` says for which
    goals), a fact *makes false* a claim or *misleads* by it, a *cover* is a claim it makes false
    that a deceiver wants believed (``gain`` says for whose gain), evidence *reveals* a fact.
    """

    scenario: Scenario

    @classmethod
    def of(cls, scenario: Scenario) -> KnowledgeGraph:
        """Return the graph of a scenario.

        Raises:
            KeyError: something refers to a fact or claim that does not exist.
        """
        names = {node.name for node in _nodes(scenario)}
        for edge in _edges(scenario):
            for name in (edge.left, edge.right):
                if name not in names:
                    raise KeyError(name)
        return cls(scenario)

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """It as a graph of networkx; most questions are answered without, and sooner."""
        import networkx as nx  # noqa: PLC0415 - slow to import

        graph: nx.DiGraph[str] = nx.DiGraph()
        for node in _nodes(self.scenario):
            graph.add_node(node.name, kind=node.kind, label=node.label, text=node.text)
        for edge in _edges(self.scenario):
            graph.add_edge(edge.left, edge.right, relation=edge.relation, **edge.data)
        return graph

    def truth(self, claim_id: str, fact_id: str) -> Truth | None:
        """Return what the author decided about a claim under a fact; None where it is undecided.

        Raises:
            KeyError: there is no such fact.
        """
        fact = self.scenario.fact(fact_id)
        decided: tuple[tuple[Truth, Collection[str]], ...] = (
            ("false", fact.makes_false), ("misleads", fact.misleads),
            ("true", fact.makes_true), ("open", fact.leaves_open),
        )  # fmt: skip
        return next((truth for truth, claims in decided if claim_id in claims), None)

    def claims_against(self, fact_id: str) -> tuple[Claim, ...]:
        """Return the claims that a fact makes false, in the order of the scenario.

        Raises:
            KeyError: there is no such fact.
        """
        return claims_against(self.scenario, fact_id)

    def covers(self, fact_id: str) -> tuple[Claim, ...]:
        """Return what a deceiver wants believed instead of a fact, the likeliest first.

        Raises:
            KeyError: there is no such fact, or a cover is no claim of the scenario.
        """
        return tuple(self.claim(cover.claim) for cover in self.scenario.fact(fact_id).cover)

    def claim(self, claim_id: str) -> Claim:
        """Return one claim.

        Raises:
            KeyError: there is no such claim.
        """
        for claim in self.scenario.claims:
            if claim.id == claim_id:
                return claim
        raise KeyError(claim_id)

    def nodes(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of the nodes of one kind, in the order of the scenario."""
        return tuple(node for node, data in self.graph.nodes(data=True) if data["kind"] == kind)

    def edges(self, *relations: Relation) -> tuple[tuple[str, str], ...]:
        """Return the edges of some relations."""
        return tuple(
            (left, right)
            for left, right, data in self.graph.edges(data=True)
            if data["relation"] in relations
        )


def claims_against(scenario: Scenario, fact_id: str) -> tuple[Claim, ...]:
    """Return the claims that a fact makes false, in the order of the scenario; no graph is built.

    Raises:
        KeyError: there is no such fact.
    """
    fact = scenario.fact(fact_id)
    against = {*fact.makes_false, *(cover.claim for cover in fact.cover)}
    return tuple(claim for claim in scenario.claims if claim.id in against)


def _statements(scenario: Scenario) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Yield who states what: a goal or ``shared``, and the claims of one fixed line."""
    if scenario.opening.shared is not None:
        for exchange in scenario.opening.shared.exchanges:
            yield SHARED, exchange.claims
    for goal, statement in scenario.opening.statements:
        yield goal, statement.claims


class _Node(NamedTuple):
    kind: Kind
    id: str
    label: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.kind}:{self.id}"


class _Edge(NamedTuple):
    relation: Relation
    left: str
    right: str
    data: dict[str, object]


def _nodes(scenario: Scenario) -> Iterator[_Node]:
    for key, role in scenario.roles.items():
        yield _Node("role", key, role.name, role.description)
    for fact in scenario.facts:
        yield _Node("fact", fact.id, fact.about, fact.text)
    for claim in scenario.claims:
        yield _Node("claim", claim.id, claim.id.replace("_", " "), claim.text)
    for item in scenario.evidence:
        yield _Node("evidence", item.id, item.label, item.label)


def _edges(scenario: Scenario) -> Iterator[_Edge]:
    """Yield the edges; of several between the same two nodes the last is the one that counts."""
    for fact in scenario.facts:
        node = f"fact:{fact.id}"
        for role in fact.knowers:
            yield _Edge("knows", f"role:{role}", node, {})
        for claim_id in fact.makes_false:
            yield _Edge("makes_false", node, f"claim:{claim_id}", {})
        for claim_id in fact.misleads:
            yield _Edge("misleads", node, f"claim:{claim_id}", {})
        for cover in fact.cover:
            yield _Edge("cover", node, f"claim:{cover.claim}", {"gain": cover.gain})
    goals: dict[str, dict[str, None]] = {}  # each goal once, in the order of the lines
    for goal, claims in _statements(scenario):
        for claim_id in claims:
            goals.setdefault(claim_id, {})[goal] = None
    for claim_id, stated in goals.items():
        yield _Edge("states", "role:responder", f"claim:{claim_id}", {"goals": tuple(stated)})
    for item in scenario.evidence:
        for fact_id in item.reveals:
            yield _Edge("reveals", f"evidence:{item.id}", f"fact:{fact_id}", {})
