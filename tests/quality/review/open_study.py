"""An open study with people who answer, for what leaves a review and comes back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hipo.app.review.reviewing import ReviewOptions, open_study, run_material, scenario_finder
from pipeline.store.reviews import ReviewStore
from quality.review.exhibits import Exhibits
from quality.review.importing import ImportedReviews, check_incoming, merge_all
from quality.review.outgoing import outgoing
from scenarios.reviews import GivenLabel, Opinion, ReviewStudy
from scenarios.schemes.model import Scheme

NOTE = '=cmd|" /C calc"!A0'


class Room:
    """An open study with what answers need to leave it and come back."""

    def __init__(self, folder: Path, store: ReviewStore, mode: str) -> None:
        self.store = store
        material = run_material(folder)
        self.scheme: Scheme = material.scheme
        wishes = ReviewOptions(mode=mode, everything=True, per_item=2)
        self.study: ReviewStudy = open_study(store, material, wishes)
        self.exhibits = Exhibits(
            store, self.scheme, self.study, scenario_finder(material, self.study)
        )

    def dialogues(self) -> list[Any]:
        return list(outgoing(self.store, self.study, self.exhibits))

    def sheets(self) -> list[tuple[str, str, frozenset[GivenLabel], Opinion | None]]:
        return sorted(
            (s.item.id, s.annotator, frozenset(s.labels), s.opinion)
            for s in self.store.sheets.sheets(self.study)
        )

    async def answer(self, names: Mapping[str, int]) -> None:
        """Let people answer some items each."""
        for name, count in names.items():
            who = self.store.people.known_as(name).seq
            for position in range(count):
                number = await self.store.take(self.study, who, lease_s=600)
                assert number is not None
                await self._answer_one(number, who, position)

    async def _answer_one(self, number: int, who: int, position: int) -> None:
        found = self.store.assignment(self.study, number, who)
        assert found is not None
        labels = []
        for section in self.exhibits.of(found.item).sections:
            for field in section.fields:
                labels_on_offer = [c.value for c in field.choices if not c.is_alone]
                offered: Any = field.dimension.point_values or labels_on_offer
                if field.kind == "many":
                    offered = [*((label,) for label in labels_on_offer), ()]
                value = offered[(position + who) % len(offered)]
                labels.append(GivenLabel(field.turn, field.dimension.id, value))
        reviewing = self.study.mode == "review"
        opinion = Opinion(
            issue=position % 2 == 0 if reviewing else None,
            issue_reason="goal" if reviewing and position % 2 == 0 else "",
            note=NOTE if position == 0 else "",
            lead_s=12.5,
        )
        await self.store.submit(self.study, number, who, labels, opinion, lease_s=600)

    def bring_in(self, incoming: Any) -> ImportedReviews:
        checked = check_incoming(
            self.store, self.study, self.scheme, self.exhibits, incoming, file="f"
        )
        return merge_all(self.store, self.study, checked, origin="import:f")
