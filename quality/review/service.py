"""The state of the review application, built once when the server starts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.chunks import chunks
from pipeline.store.reviews import ReviewStore
from quality.review.consent import Consent
from quality.review.exhibits import Exhibits, ScenarioOf
from quality.review.giving import AttentionMixing, Giving
from quality.review.password_checks import PasswordChecks
from quality.review.queueing import QueueSelection, fill
from quality.review.translations import Translations, page_languages
from quality.review.verdicts import settled
from quality.web.access import Access
from quality.web.page_language import PageLanguage
from quality.web.sessions import Links
from scenarios.reviews import (
    Assignment,
    GivenLabel,
    Item,
    Opinion,
    PersonRole,
    ReviewStudy,
)
from scenarios.schemes.model import Scheme

REFRESH_S = 30.0
_SETTLED_AT_ONCE = 200
"""Items whose verdicts are stored in one transaction when the server starts."""


@dataclass(slots=True)
class ReviewService:
    """One study of one run, filled and open for review."""

    store: ReviewStore
    study: ReviewStudy
    scheme: Scheme
    selection: QueueSelection
    scenario_of: ScenarioOf
    consent: Consent
    translations: Translations
    access: Access
    lease_s: float = 1200.0
    announce: Callable[[PersonRole, str], None] = lambda role, token: None
    mixing: AttentionMixing | None = None
    """Attention items among the others; None: there are none."""
    exhibits: Exhibits = field(init=False)
    giving: Giving = field(init=False)
    links: Links[PersonRole] = field(init=False)
    languages: Mapping[str, PageLanguage] = field(init=False)
    """What the page itself can be read in besides English, by code."""
    passwords: PasswordChecks = field(init=False, default_factory=PasswordChecks)
    introductions: dict[tuple[bytes, str], asyncio.Task[str | None]] = field(
        init=False, default_factory=dict
    )
    """People who are being made known, by session and name; the result is their return code."""
    _filled_at: float = field(init=False, default_factory=time.monotonic)
    _filling: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        """Join what depends on the rest."""
        self.exhibits = Exhibits(self.store, self.scheme, self.study, self.scenario_of)
        self.giving = Giving(self.store, self.study, self.exhibits, self.lease_s, self.mixing)
        self.links = Links(self.announce)
        self.languages = page_languages(self.scheme)

    def fill(self) -> int:
        """Take in what has become reviewable, and return how many items are new."""
        self._filled_at = time.monotonic()
        # Read beside this thread: while a long query of its connection goes on, pages that read by
        # the same one would see the study as it was when that began.
        with ReviewStore.open(self.store.folder) as store:
            return fill(store, self.study, self.selection, self.scenario_of)

    @property
    def offered(self) -> dict[str, str]:
        """The languages one can choose from, by code: those of the page, and of translations."""
        names = {code: one.name for code, one in self.languages.items()}
        return {**self.translations.languages, **names}

    async def refresh(self) -> None:
        """Take in what has become reviewable since, at most every 30 seconds."""
        if time.monotonic() - self._filled_at < REFRESH_S or self._filling.locked():
            return
        async with self._filling:
            await asyncio.get_running_loop().run_in_executor(None, self.fill)

    async def submit(
        self, assignment: Assignment, labels: Sequence[GivenLabel] | None, opinion: Opinion
    ) -> None:
        """Store an answer, and the verdict if that settles it; durable on return.

        Raises:
            AnswerRefused: the item is not theirs any more, or closed.
        """
        await self.store.submit(
            self.study,
            assignment.seq,
            assignment.annotator,
            labels,
            opinion,
            lease_s=self.lease_s,
        )
        await self.settle(assignment.item)

    async def settle(self, item: Item) -> None:
        """Store what reviewers decide about a dialogue, once that is settled.

        An expert who has decided is not overruled.
        """
        decision = settled(self.store, self.study, item)
        if decision is not None:
            await self.store.judgements.decide([decision])

    async def settle_all(self) -> None:
        """Settle every item anew: an answer may have been stored right before a power cut."""
        answered = (item for item, answers in self.store.sheets.items(self.study) if answers)
        for some in chunks(answered, _SETTLED_AT_ONCE):
            found = (settled(self.store, self.study, item) for item in some)
            await self.store.judgements.decide([one for one in found if one is not None])
