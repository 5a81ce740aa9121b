"""A dialogue that is nearly one the run already has."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

import numpy as np
from pydantic import Field

from pipeline.vectors import Vector
from quality.gates.protocol import GatedDialogue, GateExtension, Share
from quality.gates.shared_words import SharedWords
from quality.gates.signatures import Signature, SignatureIndex, bands_for, signature_of_runs
from scenarios.case import Case
from scenarios.strict import Strict
from scenarios.verdicts import Flag
from scenarios.wording import union

RUN: Final = 3
"""Words of which a run is compared."""


@dataclass(frozen=True, slots=True)
class KeptDialogue:
    """What is remembered of a dialogue."""

    case: Case
    arm: str
    said: int | None
    """A hash of all its words in their order; None where nobody asks for it."""


@dataclass(frozen=True, slots=True)
class _Twin:
    """An earlier dialogue that has many of a dialogue's words."""

    likeness: float = 0.0
    """Share of common word triples, as signatures tell it; 0: there is none."""
    kept: KeptDialogue | None = None
    """What is remembered of it; None: there is none."""


class DuplicateSettings(Strict):
    """From when on two dialogues of a run are one."""

    duplicate_share: Share = 0.7
    """Share of common word triples from which on two dialogues of a run are near-duplicates."""
    duplicate_cosine: Share = 0.97
    """The same for the cosine of their embeddings, where an encoder is at hand."""
    duplicate_overlap: Share = 0.55
    """Share of common content words from which on two dialogues are embedded at all."""
    duplicate_window: Annotated[int, Field(ge=100, le=10_000_000)] = 20_000
    """How many of the latest dialogues a dialogue is compared with; bounds the memory
    (about 7 kB each)."""


class NearDuplicates:
    """Compares each dialogue with the latest of its run, by word triples and by embedding.

    Only improvised turns count, since the opening is the same by design; so are two arms that
    play the same case. Memory is bounded by the window: the oldest dialogue is forgotten first. Of
    those that many words suggest, the latest are looked at (:data:`~quality.gates.signatures.MOST_ALIKE`).
    Feed it the dialogues in one fixed order, those of an earlier session included: of two
    duplicates the later one is flagged.
    """

    code: ClassVar[str] = "near_duplicate"

    def __init__(self, its: DuplicateSettings | None = None) -> None:
        """Start with an empty memory; None: with the thresholds that ship."""
        its = its or DuplicateSettings()
        self._share, self._cosine = its.duplicate_share, its.duplicate_cosine
        self._window = window = its.duplicate_window
        self._index = SignatureIndex(*bands_for(self._share), window)
        self._kept: deque[KeptDialogue] = deque(maxlen=window)
        self._vectors: Vector = np.zeros((0, 0), np.float32)
        self._cases: list[str] = []
        self._words = SharedWords(its.duplicate_overlap, window)
        self._not_embedded: dict[int, tuple[str, str]] = {}
        self._compared: dict[tuple[str, str], _Twin] = {}
        """What :meth:`to_embed` found by words, by case and arm, until :meth:`add_and_check` takes it:
        a dialogue that has to be embedded is overtaken by those that have not."""
        self._spoken: deque[str] = deque(maxlen=window)
        """The cases of the latest dialogues that :meth:`to_embed` was given."""

    def to_embed(self, subject: GatedDialogue) -> list[tuple[str, str]]:
        """Return (case, text) of what has to be embedded for :meth:`add_and_check`.

        Dialogues come in the order of the run; it may run ahead of :meth:`add_and_check`.

        Returns:
            Nothing for a dialogue that shares too few words with every one before it to mean the
            same, which most do, and for one that is flagged by its words, for which its twin stands
            later, too. Else the dialogue itself, and before it those that it is like and that were
            not returned yet.
        """
        case, text = subject.dialogue.case.id, subject.improvised_text
        by_words = self._compared[case, subject.dialogue.arm] = self._compare(subject)
        place, alike = self._words.add(union(turn.text for turn in subject.improvised))
        self._not_embedded.pop(place - self._window, None)
        first = place - len(self._spoken)
        others = [at for at in alike if self._spoken[at - first] != case]
        self._spoken.append(case)
        if by_words.likeness >= self._share:
            return []
        if not others:
            self._not_embedded[place] = (case, text)
            return []
        late = [self._not_embedded.pop(at) for at in others if at in self._not_embedded]
        return [*late, (case, text)]

    def add_and_check(self, subject: GatedDialogue, vector: Vector | None = None) -> list[Flag]:
        """Remember a dialogue and flag it if it nearly equals one that is remembered.

        Args:
            subject: the dialogue.
            vector: the unit-length embedding of its ``improvised_text``, shape ``(dim,)``; the
                same dimension for every dialogue. Without one, words alone decide.

        Returns:
            At most one flag, whose severity is the likeness: of words, or else of meanings.
        """
        key = subject.dialogue.key
        twin = self._compared.pop(key, None) or self._compare(subject)
        if twin.likeness >= self._share:
            name = "" if twin.kept is None else f"{twin.kept.case.id}/{twin.kept.arm}"
            reason = f"{twin.likeness:.0%} of its word triples are those of {name}"
            return [subject.flag(self.code, reason, severity=twin.likeness)]
        if vector is None:
            return []
        case = subject.dialogue.case.id
        close, like = self._closest(vector, case)
        self.remember_meaning(case, vector)
        if close < self._cosine:
            return []
        reason = f"its meaning is that of {like} (cosine {close:.2f})"
        return [subject.flag(self.code, reason, severity=close)]

    def twin_by_words(self, subject: GatedDialogue) -> KeptDialogue | None:
        """Remember a dialogue; return the one whose words it nearly has, if there is one.

        Another arm's dialogue of the same case is a twin where it has every word in its place: what
        is nearly the same there is by design (one draft, and what became of it).
        """
        return self._compare(subject, hash(subject.improvised_words)).kept

    def _compare(self, subject: GatedDialogue, said: int | None = None) -> _Twin:
        """Return the dialogue before this one that has most of its words, and remember this one."""
        case = subject.dialogue.case
        signature = signature_of_runs(subject.improvised_words, RUN)
        if signature is None:
            return _Twin()
        found = self._nearest(signature, case, said)
        self._index.add(signature)
        self._kept.append(KeptDialogue(case, subject.dialogue.arm, said))
        return found

    def __len__(self) -> int:
        """Return how many dialogues are remembered."""
        return len(self._kept)

    def _nearest(self, signature: Signature, case: Case, said: int | None) -> _Twin:
        """Return the likeliest twin, the earliest of equals; of the same case only a word for word one."""
        for number, similarity in self._index.alike(signature, self._share):
            kept = self._kept[number - self._index.oldest]
            if kept.case.id == case.id and (said is None or kept.said != said):
                continue
            return _Twin(similarity, kept)
        return _Twin()

    def _closest(self, vector: Vector, case: str) -> tuple[float, str]:
        if not self._cases:
            return 0.0, ""
        cosines = self._vectors[: len(self._cases)] @ vector
        cosines[[known == case for known in self._cases]] = -1.0
        at = int(cosines.argmax())
        return round(float(cosines[at]), 6), self._cases[at]

    def remember_meaning(self, case: str, vector: Vector) -> None:
        """Remember the embedding of an earlier dialogue; one of :meth:`add_and_check` is anyway.

        A row is appended, doubling the room as needed; beyond the window the older half is dropped.
        """
        if len(self._cases) >= self._window:
            half = self._window // 2
            self._vectors[: len(self._cases) - half] = self._vectors[half : len(self._cases)].copy()
            del self._cases[:half]
        if len(self._cases) >= len(self._vectors):
            room = np.zeros((max(64, 2 * len(self._vectors)), len(vector)), np.float32)
            room[: len(self._vectors), : self._vectors.shape[1]] = self._vectors
            self._vectors = room
        self._vectors[len(self._cases)] = vector
        self._cases.append(case)


GATE = GateExtension(
    NearDuplicates.code,
    DuplicateSettings,
    NearDuplicates,
    embeds=True,
)
