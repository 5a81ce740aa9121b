"""Whether an endpoint is there: what its answers say, who may go and see, and when to give up.

Everything here is a function of what happened and when; nothing waits and nothing is sent.
:mod:`pipeline.endpoints.gate` lets calls through by these decisions. No request is invented to find
out: one of the calls that wait is let through alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.endpoints.signs import CallSign, Sign
from pipeline.endpoints.wait_rules import WaitRules
from scenarios.durations import in_words
from scenarios.quick_records import quickly_made

_PERHAPS_AWAY: frozenset[Sign] = frozenset({"erring", "silent"})
"""What may be the trouble of one prompt, or of an endpoint that was set up wrongly."""
_AWAY = frozenset[Sign]({"unconnected", "unserved", "broken"}) | _PERHAPS_AWAY
CASES_IN_A_ROW = 5
"""Cases without a success between them whose requests come to errors or to nothing in time, before
it is the endpoint that has a fault, and not some prompts that it has trouble with."""
LONGEST_SAID = 200
"""Characters of an error that are told of an outage."""
EARLY_TRIES = 20
"""Tries of an outage after which the pauses between them are twice as long."""


@quickly_made
@dataclass(frozen=True, slots=True)
class Admission:
    """A call's way through; it is given back, or settled by what became of the request."""

    number: int
    """Counts the admissions to one endpoint."""
    role: str
    """Whose prompt it is for, see ``RequestOrigin``."""
    outage: bool = False
    """Whether it goes to see if an outage is over."""
    role_answered: bool = True
    """Whether anything of this role was answered before, by this endpoint in this run."""
    answered: bool = False
    """Whether anything at all was answered before, by this endpoint in this process."""
    alone: bool = False
    """Whether others wait for what becomes of it."""


@dataclass(frozen=True, slots=True)
class OutageNews:
    """The beginning or the end of an outage, in a sentence."""

    began: bool
    what: str
    """What is, or was, wrong: the same text at the end as at the beginning."""
    message: str
    seconds: float
    """How long it has been."""


@dataclass(slots=True)
class _Outage:
    """An endpoint that is away, or may be."""

    what: str
    """What is wrong, e.g. ``no connection to http://127.0.0.1:8000/v1``."""
    hint: str
    """What can be done about it; empty where nobody knows."""
    since: float
    next_try: float
    silent: bool = False
    """Whether it takes requests and does not answer: that one waits for its answer shows nothing."""
    declared: bool = False
    """Whether people were told; a moment's fault is over before."""
    probe: int | None = None
    """The admission that has gone to see."""
    probe_began: float = 0.0

    def told(self, lasts: str = "") -> str:
        """Return in a sentence what is wrong, for how long, and what can be done about it."""
        return f"{self.what}{lasts}" + (f" ({self.hint})" if self.hint else "")


class Availability:
    """What is known of one endpoint. Times are seconds of any clock that only goes forward."""

    def __init__(
        self,
        name: str,
        where: str,
        rules: WaitRules,
        answered_before: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Begin with an endpoint nothing was asked of.

        Args:
            name: ``provider/model``.
            where: its base URL.
            rules: how long to wait.
            answered_before: whether it answered a role in an earlier process of the run.
        """
        self._name = name
        self._where = where
        self._rules = rules
        self._answered_before = answered_before
        self._admissions = 0
        self._answered: set[str] = set()
        self._let_in: set[str] = set()
        """Roles whose calls do not wait for a first one: it was answered, or takes long."""
        self._first: dict[str, float] = {}
        """Since when the first calls of a role go one by one."""
        self._alone: dict[str, int] = {}
        """The admission of the one that is under way."""
        self._nobody_until = 0.0
        self._outage: _Outage | None = None
        self._last = CallSign("nothing")
        """What the last request says."""
        self._last_answer = 0.0
        self._unserved_since: float | None = None
        self._unheard_since: float | None = None
        """When the first request was sent that came to nothing in time; None once one is answered."""
        self._erring: set[str] = set()
        """Cases whose requests came to errors, or to nothing in time, since the last success."""
        self._refused_since: float | None = None
        self._refusals = 0
        self._asked_s = 0.0
        """How long a pause each of these asks for, at least."""

    @property
    def away(self) -> bool:
        """Whether the endpoint does not answer at the moment."""
        return self._outage is not None

    @property
    def open_to(self) -> int:
        """How many roles need not wait; none while it is away."""
        return 0 if self.away else len(self._let_in)

    # Going in

    def admit(self, role: str, now: float, *, changed: bool = False) -> Admission | None:
        """Let one call through, or return None; one that was ``changed`` after a refusal need not wait for that."""
        outage = self._outage
        if outage is not None:
            if outage.probe is not None or now < outage.next_try:
                return None
            admission = self._admission(role, outage=True, alone=True)
            outage.probe, outage.probe_began = admission.number, now
            return admission
        if role in self._let_in:
            return self._admission(role)
        if role in self._alone or (self._alone and not self._let_in):
            return None
        if now < self._nobody_until and not changed:
            return None
        admission = self._admission(role, alone=True)
        self._first.setdefault(role, now)
        self._alone[role] = admission.number
        return admission

    def _admission(self, role: str, *, outage: bool = False, alone: bool = False) -> Admission:
        self._admissions += 1
        before = role in self._answered or self._answered_before(role)
        return Admission(self._admissions, role, outage, before, bool(self._answered), alone)

    def holds(self, admission: Admission) -> bool:
        """Return whether an admission is still good: an outage may have begun since."""
        return self._outage is None or self._outage.probe == admission.number

    def give_back(self, admission: Admission, now: float) -> None:
        """Note that nothing was sent after all: somebody else may go."""
        self.settled(admission, CallSign("nothing"), now)

    def next_change(self, now: float) -> float | None:
        """Return in how many seconds time alone changes who may go; None: it does not."""
        outage, rules = self._outage, self._rules
        if outage is None:
            due = [since + rules.alone_s for since in self._first.values()]
            due += [self._nobody_until] if now < self._nobody_until else []
        elif outage.probe is not None:
            due = [outage.probe_began + rules.alone_s]
        else:
            due = [outage.next_try]
        return max(0.0, min(due) - now) if due else None

    # Coming back

    def settled(self, admission: Admission, came: CallSign, now: float) -> OutageNews | None:
        """Take in what became of a call; return what people should be told of it.

        Args:
            admission: of the call.
            came: what it says of the endpoint.
            now: when it came back.
        """
        sign = came.sign
        if sign in _PERHAPS_AWAY and not (self._answered or admission.role_answered):
            self._nothing_since_the_start(came, now)
            sign = "failed"  # perhaps it never would answer: who set it up wrongly need not wait
        self._last = came
        if self._alone.get(admission.role) == admission.number:
            del self._alone[admission.role]
            if sign == "refused":
                self._nobody_until = now + self._rules.after_refusal_s
            elif came.sign == "failed" and came.status is not None:
                self._nobody_until = now + self._rules.in_another_form_s
        if sign == "answered":
            self._answered.add(admission.role)
            self._let_all_in(admission.role)
            self._last_answer = now
        outage = self._outage
        if outage is None:
            return self._settled_in_service(sign, now)
        if outage.probe != admission.number and not (outage.silent and sign == "answered"):
            return None  # it was on its way when the outage began, and says nothing new
        outage.probe = None
        if sign == "nothing":
            outage.next_try = now
            return None
        if sign in _AWAY:
            return self._still_away(outage, sign, now)
        news = self._back(outage, now)
        self._settled_in_service(sign, now)
        return news

    def _let_all_in(self, role: str) -> None:
        self._let_in.add(role)
        self._first.pop(role, None)

    def _settled_in_service(self, sign: Sign, now: float) -> OutageNews | None:
        if sign == "slow_down":
            if self._refused_since is None:
                self._refused_since, self._refusals, self._asked_s = now, 0, self._last.asked_s
            self._refusals += 1
            self._asked_s = min(self._asked_s, self._last.asked_s)
            return None
        if sign != "nothing":
            self._refused_since = None
        if sign == "answered":
            self._no_error()
        if sign not in _AWAY:
            return None
        if sign == "unconnected" or (sign not in _PERHAPS_AWAY and not self._answered):
            next_try = now + self._rules.confirm_s
            self._outage = _Outage(*self._wrong(sign), now, next_try)
            return None
        if self._unserved_since is None:
            silent_s = self._last.waited_s if sign == "silent" else 0.0
            self._unserved_since = max(self._last_answer, now - silent_s)
        if sign in _PERHAPS_AWAY:
            self._erring.add(self._last.case)
        if now - self._unserved_since < self._rules.unserved_s:
            return None
        if sign in _PERHAPS_AWAY and len(self._erring) < CASES_IN_A_ROW:
            return None
        wrong = self._wrong(sign)
        self._outage = _Outage(*wrong, self._unserved_since, now, silent=sign == "silent")
        return self._still_away(self._outage, sign, now)

    def _still_away(self, outage: _Outage, sign: Sign, now: float) -> OutageNews | None:
        """Put the next try off; declare an outage that is more than a moment's fault."""
        lasts, rules = now - outage.since, self._rules
        if not outage.declared and sign != "unconnected" and lasts < rules.unserved_s:
            outage.next_try = now + rules.confirm_s
            return None
        pause = rules.probe_s if lasts < EARLY_TRIES * rules.probe_s else 2 * rules.probe_s
        outage.next_try = min(now + pause, max(now, outage.since + rules.wait_s))
        if outage.declared:
            return None
        outage.declared = True
        outage.what, outage.hint = self._wrong(sign)
        message = (
            f"{outage.told()}: waiting up to {in_words(rules.wait_s)}, next try in"
            f" {in_words(outage.next_try - now)}; Ctrl-C stops, nothing is lost"
        )
        # Requests may run into their time limit when all of the wait is over: the run stops.
        return OutageNews(True, outage.what, message, lasts) if lasts < rules.wait_s else None

    def _back(self, outage: _Outage, now: float) -> OutageNews | None:
        self._outage = None
        self._no_error()
        self._first = dict.fromkeys(self._first, now)
        if not outage.declared:
            return None
        lasted = now - outage.since
        message = f"{self._where} takes requests again after {in_words(lasted)}"
        return OutageNews(False, outage.what, message, lasted)

    def _no_error(self) -> None:
        self._unserved_since = self._unheard_since = None
        self._erring.clear()

    def _nothing_since_the_start(self, came: CallSign, now: float) -> None:
        """Note an error, or silence, of an endpoint that has not answered yet."""
        self._erring.add(came.case)
        if came.sign == "silent":
            if self._unheard_since is None:
                self._unheard_since = now - came.waited_s
        elif self._unserved_since is None:
            self._unserved_since = now

    def _never_answers(self, now: float) -> bool:
        """Return whether requests came to nothing but errors for long, and none was ever answered.

        Or to silence for longer, one of them in twice the usual time: it may only be slow.
        """
        last = self._last
        since, longest = self._unserved_since, self._rules.at_first_s
        if last.sign == "silent":
            since = self._unheard_since
            longest = max(self._rules.silent_at_first_s, 1.5 * last.waited_s)
        elif last.sign != "erring":
            return False
        if self._answered or since is None or len(self._erring) < CASES_IN_A_ROW:
            return False
        return now - since >= longest

    def _wrong(self, sign: Sign) -> tuple[str, str]:
        """Return what is wrong, and what can be done about it."""
        if sign == "unconnected":
            return self._last.said or f"no connection to {self._where}", self._last.hint
        if sign == "broken":
            return f"connections to {self._where} break", ""
        if sign == "silent":
            return f"{self._where} leaves requests for {self._name} unanswered", self._last.hint
        if sign == "erring":
            status = "" if self._last.status is None else f"status {self._last.status}: "
            said = f"{status}{self._last.said[:LONGEST_SAID]}"
            return f"{self._where} answers {self._name} with nothing but errors ({said})", ""
        return f"{self._where} does not serve {self._name} (status {self._last.status})", ""

    # Time passing

    def look(self, now: float) -> OutageNews | None:
        """Let the others go where one that was let through alone takes long.

        After an outage, that it waits for its answer shows that there is a connection again. Where
        no request was answered it shows nothing: another one goes, and any answer ends it.
        """
        longest, outage = self._rules.alone_s, self._outage
        if outage is None:
            for role in [role for role, since in self._first.items() if now - since >= longest]:
                self._let_all_in(role)
        elif outage.probe is not None and now - outage.probe_began >= longest:
            if not outage.silent:
                return self._back(outage, now)
            outage.probe = None
            return self._still_away(outage, "silent", now)
        return None

    def given_up(self, now: float) -> str | None:
        """Return why the endpoint is waited for no longer, in a sentence; None: it is."""
        outage, rules = self._outage, self._rules
        if outage is not None and outage.declared and outage.probe is None:
            lasts = now - outage.since
            if lasts >= rules.wait_s:
                return outage.told(f" for {in_words(lasts)}" if rules.wait_s else "")
        if outage is None and self._never_answers(now):
            what, hint = self._wrong(self._last.sign)
            return f"{what}, and has answered no request yet" + (f" ({hint})" if hint else "")
        if outage is None and self._refused_since is not None:
            lasts, longest = now - self._refused_since, max(rules.wait_s, rules.refused_s)
            if self._refusals > 1 and self._asked_s > longest:
                return (
                    f"{self._where} asks for a pause of {in_words(self._asked_s)} before it serves"
                    f" {self._name} again, longer than is waited for ({in_words(longest)}):"
                    f" {self._last.said[:LONGEST_SAID]}"
                )
            if lasts >= longest:
                return (
                    f"{self._where} has refused every request for {self._name} for"
                    f" {in_words(lasts)} because of its rate (status 429)"
                )
        return None
