"""The jobs that wait for a free place, arm by arm: none holds back another."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

MOST_WAITING = 16_384
"""Jobs that may wait for slow arms while others go on with later cases."""


class OfArm(Protocol):
    """A job that an arm plays."""

    @property
    def arm(self) -> str:
        """The id of the arm."""


J = TypeVar("J", bound=OfArm)


class ArmQueues(Generic[J]):
    """Which job is begun next: that of the arm with the fewest under way.

    An arm whose endpoint refuses, or is away, keeps its share of the places and no more: its
    dialogues stay under way, while those of the others end and make room for their next ones.
    Of arms that have equally many under way the one that is behind comes first.
    """

    def __init__(self, arms: Iterable[str]) -> None:
        """Begin with nothing waiting and nothing under way."""
        self._waiting: dict[str, deque[J]] = {arm: deque() for arm in arms}
        self._under_way: Counter[str] = Counter()
        self._taken: set[int] = set()
        """Jobs under way, by their ``id()``."""

    def add(self, jobs: Iterable[J]) -> None:
        """Let further jobs wait."""
        for job in jobs:
            self._waiting[job.arm].append(job)

    @property
    def want_more(self) -> bool:
        """Whether further jobs should be added: it is the turn of an arm that has none left.

        An arm that never had a job has probably played everything, and waits for none.
        """
        count = sum(map(len, self._waiting.values()))
        if not 0 < count < MOST_WAITING:
            return not count
        begun = [arm for arm, jobs in self._waiting.items() if jobs or arm in self._under_way]
        return not self._waiting[min(begun, key=self._turn)]

    def take(self) -> J | None:
        """Return the next job, which is under way from now on; None where none waits."""
        ready = [arm for arm, jobs in self._waiting.items() if jobs]
        if not ready:
            return None
        arm = min(ready, key=self._turn)
        self._under_way[arm] += 1
        job = self._waiting[arm].popleft()
        self._taken.add(id(job))
        return job

    def ended(self, job: J) -> None:
        """Note that a job is under way no longer; one that gets a second try was not any more."""
        if id(job) in self._taken:
            self._taken.remove(id(job))
            self._under_way[job.arm] -= 1

    def _turn(self, arm: str) -> tuple[int, int]:
        return self._under_way[arm], -len(self._waiting[arm])
