"""An endpoint with a clock of its own, for what is decided about endpoints."""

from pipeline.endpoints.outage import Availability
from pipeline.endpoints.signs import CallSign
from pipeline.endpoints.wait_rules import WaitRules

URL = "http://127.0.0.1:8000/v1"


RULES = WaitRules(wait_s=3600.0)


class Watched:
    """An endpoint with a clock of its own; what people are told is kept."""

    def __init__(self, rules=RULES, answered_before=lambda _: False):
        self.it = Availability("compatible/m", URL, rules, answered_before)
        self.now = 0.0
        self.news = []

    def admit(self, role="initiator", **how):
        return self.it.admit(role, self.now, **how)

    def settle(self, admission, sign, status=None, **more):
        told = self.it.settled(admission, CallSign(sign, status, **more), self.now)
        if told:
            self.news.append(told)

    def look(self):
        told = self.it.look(self.now)
        if told:
            self.news.append(told)

    def after(self, seconds):
        self.now += seconds
        return self

    @classmethod
    def in_service(cls, **options):
        watched = cls(**options)
        watched.settle(watched.admit(), "answered")
        return watched

    def cut_off(self, sign="unconnected", **error):
        """Let an outage be declared."""
        self.settle(self.admit(), sign, **error)
        self.after(1.0)
        self.settle(self.admit(), sign, **error)
        return self

    def tries_until(self, end):
        """Return when calls are let through, each failing at once, up to a moment."""
        times = []
        while (change := self.it.next_change(self.now)) is not None and self.now + change <= end:
            self.after(change)
            if self.it.given_up(self.now):
                return times
            self.settle(self.admit(), "unconnected")
            times.append(self.now)
        return times
