"""One run of a selection, open for reading, and what names stand for in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from outputs.selecting.arm_facts import ArmFacts, arm_facts
from pipeline.run_material import RunMaterial
from pipeline.store.queries.annotations import AnnotationReader
from pipeline.store.queries.export import CorpusReader
from pipeline.store.queries.status import RunState
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.errors import UsageError
from scenarios.language_code import spelled_code
from scenarios.schemes.model import Scheme
from scenarios.selection import select_scenarios
from scenarios.spec import Scenario


@dataclass(frozen=True)
class OpenRun:
    """One run of a selection."""

    name: str
    """Its own, with a number behind it where another run of the selection has the same."""
    store: RunStore
    corpus: CorpusReader
    annotations: AnnotationReader
    material: RunMaterial
    _checked: dict[tuple[str, str], Scenario] = field(default_factory=dict)

    @property
    def scheme(self) -> Scheme:
        """The scheme of its labels."""
        return self.material.scheme

    @cached_property
    def state(self) -> RunState:
        """Where the run stood when it was opened."""
        return self.store.state()

    def scenario_of(self, case: Case) -> Scenario:
        """Return the scenario of a case, as :meth:`RunMaterial.scenario_of`, compared only once."""
        key = (case.scenario, case.scenario_fingerprint)
        scenario = self._checked.get(key)
        if scenario is None:
            scenario = self._checked[key] = self.material.scenario_of(case)
        return scenario

    @cached_property
    def arms(self) -> Mapping[str, ArmFacts]:
        """Its arms by id."""
        return {state.id: arm_facts(state) for state in self.state.arms}

    @cached_property
    def played(self) -> Sequence[Scenario]:
        """The scenarios that it has dialogues of."""
        used = {tally.scenario for tally in self.corpus.tallies()}
        return [scenario for scenario in self.material.scenarios.values() if scenario.id in used]

    def arms_named(
        self, beginnings: Sequence[str] | None, strategies: Sequence[str] | None
    ) -> tuple[str, ...] | None:
        """Return the ids of the arms that are meant; None where nothing restricts them."""
        if beginnings is None and strategies is None:
            return None
        return tuple(
            arm.id
            for arm in self.arms.values()
            if (strategies is None or arm.strategy in strategies)
            and (beginnings is None or any(arm.id.startswith(name) for name in beginnings))
        )

    def scenarios_named(self, patterns: Sequence[str]) -> tuple[str, ...]:
        """Return the ids of the played scenarios that any pattern names."""
        found: dict[str, None] = {}
        for pattern in patterns:
            with suppress(UsageError):
                named = select_scenarios(self.played, [pattern])
                found.update(dict.fromkeys(scenario.id for scenario in named))
        return tuple(found)

    def languages_named(self, codes: Sequence[str]) -> tuple[str, ...]:
        """Return the languages of its dialogues that codes name, whatever their capitals."""
        wanted = set(map(spelled_code, codes))
        return tuple(own for own in self.corpus.languages() if spelled_code(own) in wanted)
