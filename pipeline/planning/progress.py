"""How far a run has settled a plan from its beginning, so that what is done is never walked again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.planning.plan import Plan
from pipeline.store.plan_marks import PlanMark
from pipeline.store.run_store import RunStore
from scenarios.case import Case
from scenarios.fingerprint import fingerprint
from scenarios.flow import Improvised

Key = tuple[str, str]
"""(case, arm) ids of a job."""


@dataclass(frozen=True)
class PlanRest:
    """The cases of a plan that may not be settled: behind a mark, in the order they are played.

    What a smaller plan of the series has left comes first, then what this one has beyond it.
    """

    plan: Plan
    mark: PlanMark

    @property
    def settled(self) -> int:
        """Cases of the plan that are settled for sure."""
        return self.plan.among(min(self.mark.complete, self.plan.total)) + self.mark.further

    def cases(self) -> Iterator[Case]:
        """Yield the cases."""
        for plan, smaller, skip in self._parts(0):
            yield from plan.beyond(smaller, skip)

    def improvised(self, skip: int) -> Improvised:
        """Return the improvised turns of all cases but the first ``skip``, without making them."""
        parts = [plan.improvised_beyond(smaller, less) for plan, smaller, less in self._parts(skip)]
        return Improvised(sum(one.labelled for one in parts), sum(one.others for one in parts))

    def _parts(self, skip: int) -> Iterator[tuple[Plan, int, int]]:
        """Yield plans with the size of what is left out of each, and cases to skip after that."""
        mark, skip = self.mark, self.mark.further + skip
        if mark.size < self.plan.total:
            yield replace(self.plan, n=mark.size), mark.complete, skip
            between = self.plan.among(mark.size) - self.plan.among(mark.complete)
            yield self.plan, mark.size, max(0, skip - between)
        else:
            yield self.plan, mark.complete, skip


def rest_of(
    store: RunStore, plan: Plan, arms: Iterable[str], *, retry_failed: bool = False
) -> PlanRest:
    """Return what the arms may have left of a plan in a run.

    Args:
        store: of the run.
        plan: the plan as it is now.
        arms: the ids of the arms that play it.
        retry_failed: whether failures are played again, so that every case has to be looked at.
    """
    size = plan.total
    new = PlanMark(fingerprint([plan.series, sorted(arms)]), size)
    found = store.plan_mark()
    if retry_failed or found is None or found.series != new.series:
        return PlanRest(plan, new)
    if found.size > size:  # the order of what is beyond depends on the size
        return PlanRest(plan, replace(new, complete=found.complete))
    return PlanRest(plan, _normal(found, plan))


def _normal(mark: PlanMark, plan: Plan) -> PlanMark:
    """Return a mark that goes on with a plan of another size where its own is settled."""
    over = mark.further - (plan.among(mark.size) - plan.among(mark.complete))
    if over < 0:
        return mark
    size = plan.total
    complete, over = (mark.size, over) if mark.size < size else (max(mark.complete, size), 0)
    return PlanMark(mark.series, size, complete, over)


@dataclass(slots=True)
class _CaseStretch:
    """Cases next to each other in the plan, and how many of their jobs have not ended."""

    cases: int
    open: int


class PlanProgress:
    """Follows the jobs of a plan while they end in any order, and stores how far all have ended.

    What is open is held in memory: never more than the jobs that are under way or set aside.
    """

    def __init__(self, store: RunStore, plan: Plan, arms: Sequence[str]) -> None:
        """Begin where the run left the plan."""
        self._store = store
        self._plan = plan
        self._arms = len(arms)
        self._rest = rest_of(store, plan, arms)
        self._mark = self._rest.mark
        self._stretches: deque[_CaseStretch] = deque()
        self._open: dict[Key, _CaseStretch] = {}

    @property
    def present(self) -> int:
        """Jobs of the plan that were settled when this began."""
        return self._rest.settled * self._arms

    def cases(self) -> Iterator[Case]:
        """Yield the cases that may not be settled."""
        return self._rest.cases()

    def begin(self, cases: int, jobs: Iterable[Key]) -> None:
        """Note that the next cases of the plan have come up, with those jobs that are left."""
        stretch = _CaseStretch(cases, 0)
        for job in jobs:
            stretch.open += 1
            self._open[job] = stretch
        self._stretches.append(stretch)
        self._advance()

    def end(self, job: Key) -> None:
        """Note that a job has ended, in a dialogue or in a failure, and that this is durable."""
        stretch = self._open.pop(job, None)
        if stretch is not None:
            stretch.open -= 1
            self._advance()

    def _advance(self) -> None:
        """Store the place of the first case that is not settled, if it has moved."""
        further = self._mark.further
        while self._stretches and not self._stretches[0].open:
            further += self._stretches.popleft().cases
        if further > self._mark.further:
            self._mark = _normal(replace(self._mark, further=further), self._plan)
            self._store.set_plan_mark(self._mark)
