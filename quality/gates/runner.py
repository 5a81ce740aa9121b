"""The gates as verification asks them: page by page, in the order of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.voting import Encoder
from quality.gates.near_duplicates import NearDuplicates, Vector, improvised_text
from quality.gates.protocol import Gate, GatedDialogue
from quality.gates.registry import build_gates, build_near_duplicates, check_all
from quality.gates.settings import GateSettings
from scenarios.dialogue import Dialogue
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Flag

CHECKS_VERSION = 1
"""Raised whenever the gates would find otherwise with the same settings."""

Page = Sequence[tuple[Dialogue, Scenario]]


@dataclass(frozen=True, slots=True)
class GateChecks:
    """Asks every gate about each dialogue, and compares it with those before it."""

    scheme: Scheme
    settings: GateSettings
    gates: tuple[Gate, ...]
    duplicates: NearDuplicates | None
    encoder: Encoder | None
    """Compares meanings for near-duplicates; without it words alone decide."""

    @classmethod
    def of(
        cls, settings: GateSettings, scheme: Scheme, encoder: Encoder | None = None
    ) -> GateChecks:
        """Return the gates with the given thresholds, remembering no dialogue yet."""
        return cls(
            scheme, settings, build_gates(settings), build_near_duplicates(settings), encoder
        )

    @property
    def codes(self) -> tuple[str, ...]:
        """Every code that can be raised."""
        own = () if self.duplicates is None else (self.duplicates.code,)
        return (*(gate.code for gate in self.gates), *own)

    @property
    def fingerprint(self) -> str:
        """The content hash of rules and thresholds."""
        embedded = self.duplicates is not None and self.encoder is not None
        return fingerprint(
            [CHECKS_VERSION, self.settings.model_dump(mode="json"), self.codes, embedded]
        )

    async def check(self, page: Page) -> list[tuple[Flag, ...]]:
        """Return the flags of each dialogue, remembering all of them for those that follow."""
        subjects = [GatedDialogue(dialogue, scenario, self.scheme) for dialogue, scenario in page]
        found = [check_all(self.gates, subject) for subject in subjects]
        if self.duplicates is None:
            return list(map(tuple, found))
        vectors: Sequence[Vector | None] = [None] * len(subjects)
        if self.encoder is not None:
            vectors = list(await self.encoder.encode(list(map(improvised_text, subjects))))
        return [
            (*flags, *self.duplicates.add_and_check(subject, vector))
            for flags, subject, vector in zip(found, subjects, vectors, strict=True)
        ]
