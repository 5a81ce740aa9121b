"""A store of played dialogues, and what verifies them again and again."""

from __future__ import annotations

from pipeline.executors.local import LocalExecutor
from pipeline.stopping.stop import Stop
from quality.gates.runner import GateChecks
from quality.gates.settings import gate_settings
from quality.verification.policy import load_policy
from quality.verification.unverified import VerificationSetup
from quality.verification.verify import Verification
from tests.quality.scripted import (
    ARM,
    CAR,
    HIPO,
    Asker,
    Oracle,
    dialogue,
    external_judge,
    self_judge,
)

ALL_OFF = gate_settings(
    {"off": ("near_duplicate", "repeated_turn", "unmet_requirement", "word_count")}
)
REVIEW = load_policy("review")


async def filled(store, count=3, **more):
    played = [dialogue(repetition=i, **more) for i in range(count)]
    await store.add_cases([d.case for d in played])
    for one in played:
        await store.finish(one, 0)
    return played


class Bench:
    """One store, one self judge and one external judge, verified again and again."""

    def __init__(self, store, policy=REVIEW, settings=ALL_OFF):
        self.store = store
        self.own, self.other = Asker(Oracle()), Asker(Oracle())
        self.policy = policy
        self.settings = settings
        self.stop = Stop()
        self.seen = []

    def setup(self, **more):
        judges = (self_judge(self.own), external_judge(self.other))
        return VerificationSetup(
            self.store.judgements,
            scheme=HIPO,
            scenario_of=lambda _: CAR,
            judges={ARM: more.pop("judges", judges)},
            checks=more.pop("checks", None) or GateChecks.of(self.settings, HIPO),
            policy=self.policy,
            **more,
        )

    def verification(self, **more):
        return Verification(self.setup(**more), self.stop, self.seen.append)

    async def run(self, *, at_once=4, **more):
        verification = self.verification(**more)
        return await verification.run(self.store.dialogues(traces=False), LocalExecutor(at_once))

    @property
    def calls(self):
        return len(self.own.contexts) + len(self.other.contexts)

    def verdicts(self):
        return dict(self.store.judgements.counts().verdicts)


def store_keys(store):
    return [(d.case.id, d.arm) for d in store.dialogues(traces=False)]
