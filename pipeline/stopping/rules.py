"""When failures mean that a run has to stop: what can never work is not tried 100,000 times.

``docs/overnight.md`` has the rules as a table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from pipeline.stopping.stop import INTERNAL, REFUSED, UNAVAILABLE, MustStop

SAME_FAILURE = 50
"""Jobs in a row that may fail with one code before the run stops."""
REFUSED_ALIKE = 10
"""Jobs that may be refused alike, without one done between them, before the run stops."""
REFUSED_SCENARIOS = 3
"""They have to be of so many scenarios: a filter may object to all cases of one."""
UNREADABLE_AT_FIRST = 20
"""Jobs that may fail for unreadable answers as long as none was ever done in the run."""
COMPARED_WORDS = 12
"""Messages are alike that begin with the same words, numbers and ids aside."""

Fault = Literal["", "passing", "refused", "unreadable", "internal"]
"""What the failure of a job says about others: nothing; the endpoint is in trouble that may pass;
it would refuse the same again; the model does not answer in a way that can be read; hipo or a
plugin has a fault."""

_CHANGING_WORD = re.compile(r"\S*\d\S*")


@dataclass(slots=True)
class _Refusals:
    """Jobs that were refused alike since one was done."""

    count: int = 0
    scenarios: set[str] = field(default_factory=set)


class StopRules:
    """Watches how the jobs of one stage end, and says when the run has to stop."""

    def __init__(
        self, failing: str, go_on: str, *, scenarios: int = REFUSED_SCENARIOS, worked: bool = False
    ) -> None:
        """Begin with nothing seen.

        Args:
            failing: what failures are called, e.g. ``dialogues failed``.
            go_on: what the user does to have failed jobs tried again.
            scenarios: how many scenarios the run has; 0 where that is not known.
            worked: whether a job of the run was done before, in an earlier process.
        """
        self._failing = failing
        self._go_on = go_on
        self._scenarios = min(scenarios or REFUSED_SCENARIOS, REFUSED_SCENARIOS)
        self._worked = worked
        self._in_a_row = ("", 0)
        self._refused: dict[str, _Refusals] = {}
        self._unreadable = 0

    def succeeded(self) -> None:
        """Count a job that was done: it shows that others may be, too."""
        self._worked = True
        self._in_a_row = ("", 0)
        self._refused.clear()

    def failed(self, fault: Fault, code: str, reason: str, scenario: str) -> MustStop | None:
        """Count a failure; return why the run has to stop, if it has to."""
        if fault == "refused":
            return self._after_refusal(code, reason, scenario)
        if fault == "unreadable":
            return self._after_unreadable(code, reason)
        if fault in ("passing", "internal"):
            return self._after_passing(fault, code, reason)
        return None

    def doubts(self, scenario: str) -> bool:
        """Whether this scenario was refused so often that others should be tried first."""
        return any(
            refusals.count >= REFUSED_ALIKE and scenario in refusals.scenarios
            for refusals in self._refused.values()
        )

    def _after_passing(self, fault: Fault, code: str, reason: str) -> MustStop | None:
        """Stop when one job after the other fails with the same fault."""
        before, times = self._in_a_row
        times = times + 1 if code == before else 1
        self._in_a_row = (code, times)
        if times < SAME_FAILURE:
            return None
        why = f"{times} {self._failing} in a row ({code}), the last with: {reason}"
        if fault == "internal":
            return MustStop(why, INTERNAL, f"once hipo or the plugin is mended, {self._go_on}")
        return MustStop(why, UNAVAILABLE, f"once the endpoint answers, {self._go_on}")

    def _after_refusal(self, code: str, reason: str, scenario: str) -> MustStop | None:
        """Stop when everything is refused alike, whichever scenario it is from."""
        self._in_a_row = ("", 0)
        refusals = self._refused.setdefault(alike(code, reason), _Refusals())
        refusals.count += 1
        refusals.scenarios.add(scenario)
        # Where all there is are one or two scenarios of which dialogues were made, it takes more.
        known_to_work = self._worked and self._scenarios < REFUSED_SCENARIOS
        most = SAME_FAILURE if known_to_work else REFUSED_ALIKE
        if refusals.count < most or len(refusals.scenarios) < self._scenarios:
            return None
        return MustStop(
            f"{refusals.count} {self._failing} alike ({code}), none was done between them, "
            f"the last with: {reason}",
            REFUSED,
            f"mend what it says, or take another model; then {self._go_on}",
        )

    def _after_unreadable(self, code: str, reason: str) -> MustStop | None:
        """Stop when a model has not given one readable answer."""
        self._unreadable += 1
        if self._worked or self._unreadable < UNREADABLE_AT_FIRST:
            return None
        if code == "truncated":
            advice = "raise --max-tokens, or take a model that writes less"
        else:
            advice = "take a larger model, or try --structured instruct"
        return MustStop(
            f"{self._unreadable} {self._failing} for answers that cannot be read, and none was "
            f"done, the last with: {reason}",
            REFUSED,
            f"{advice}; then {self._go_on}",
        )


def alike(code: str, reason: str) -> str:
    """Return what two failures share that are the same but for numbers, ids and the end."""
    words = _CHANGING_WORD.sub("#", reason.lower()).split()
    return f"{code} {' '.join(words[:COMPARED_WORDS])}"
