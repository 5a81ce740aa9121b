"""The declared policy that turns the flags of a dialogue into a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.spelling import suggestion
from scenarios.strict import Strict, as_tuple
from scenarios.verdicts import Assessment, Decision, Flag, Verdict
from scenarios.yaml_source import read_yaml, validate_model

SHIPPED = Path(__file__).parent / "policies"

Consequence = Literal["ignore", "review", "discard"]
_SEVERITY: dict[Consequence, int] = {"ignore": 0, "review": 1, "discard": 2}
_VERDICTS: dict[Consequence, Verdict] = {
    "ignore": "accepted",
    "review": "pending",
    "discard": "discarded",
}


class Rule(Strict):
    """What follows from flags of certain codes."""

    flags: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        BeforeValidator(as_tuple),
        Field(min_length=1),
    ]
    """Codes, globs allowed: ``external_*``."""
    then: Consequence
    at_least: float | None = None
    """Least severity; a flag without severity always meets it."""
    times: Annotated[int, Field(ge=1)] = 1
    """How many such flags a dialogue must have."""

    def covers(self, flag: Flag) -> bool:
        """Whether the rule speaks of this flag."""
        least = self.at_least
        if least is not None and flag.severity is not None and flag.severity < least:
            return False
        return any(fnmatchcase(flag.code, pattern) for pattern in self.flags)


class Policy(Strict):
    """Rules in order: for each flag the first one that covers it counts.

    The gravest consequence of all flags is the verdict: discard, else review, else acceptance.

    Source: HIPO, quality assurance (flagged dialogues are reviewed, confirmed ones discarded).
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=60)]
    unflagged: Literal["accepted", "pending"] = "accepted"
    """The verdict on a dialogue without any flag."""
    flagged: Consequence = "review"
    """What follows from a flag that no rule covers."""
    rules: tuple[Rule, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The content hash of the policy."""
        return fingerprint(self.model_dump(mode="json"))

    @property
    def in_words(self) -> str:
        """What the policy does, in one clause for people who read its verdicts."""
        done = {"ignore": "is ignored", "review": "waits for people", "discard": "is discarded"}
        rules = [
            f"{', '.join(rule.flags)}"
            f"{f' of severity {rule.at_least:g} or more' if rule.at_least is not None else ''}"
            f"{f', {rule.times} times or more,' if rule.times > 1 else ''} {done[rule.then]}"
            for rule in self.rules
        ]
        other = "what else is flagged" if rules else "what is flagged"
        unflagged = "accepted" if self.unflagged == "accepted" else "pending"
        return "; ".join([*rules, f"{other} {done[self.flagged]}", f"the rest is {unflagged}"])

    def consequence(self, flag: Flag, flags: Sequence[Flag]) -> Consequence:
        """Return what follows from one flag among all those of its dialogue."""
        for rule in self.rules:
            if rule.covers(flag) and sum(map(rule.covers, flags)) >= rule.times:
                return rule.then
        return self.flagged

    def decide(self, assessment: Assessment) -> Decision:
        """Return the verdict on a dialogue, its reason being the codes of the flags that decide."""
        by = f"policy:{self.name}"
        case, arm, flags = assessment.case, assessment.arm, assessment.flags
        if not flags:
            return Decision(case, arm, self.unflagged, by, "no flag")
        consequences = [self.consequence(flag, flags) for flag in flags]
        gravest = max(consequences, key=_SEVERITY.__getitem__)
        deciding = Counter(
            flag.code for flag, what in zip(flags, consequences, strict=True) if what == gravest
        )
        codes = ", ".join(f"{code} ({n})" if n > 1 else code for code, n in deciding.items())
        reason = f"ignored: {codes}" if gravest == "ignore" else codes
        return Decision(case, arm, _VERDICTS[gravest], by, reason)

    def check_codes(self, known: Collection[str]) -> None:
        """Do nothing where every rule speaks of flags that can be raised.

        Raises:
            UsageError: a rule names a code that nothing raises; says the nearest.
        """
        for rule in self.rules:
            for pattern in rule.flags:
                if any(fnmatchcase(code, pattern) for code in known):
                    continue
                near = get_close_matches(pattern, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else ""
                listed = f"codes: {', '.join(sorted(known))}"
                raise UsageError(
                    f"the policy {self.name!r} speaks of {pattern!r}, a flag that nothing raises",
                    f"{hint} {listed}".strip(),
                )


def policy_names() -> list[str]:
    """Return the names of the policies that ship."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def load_policy(name_or_path: str) -> Policy:
    """Load a policy that ships by its name, or anybody's from a path that ends in .yaml or .yml.

    Raises:
        UsageError: there is no such policy.
        InputError: the file is not a policy; names line and field.
    """
    if name_or_path in policy_names():
        return validate_model(Policy, read_yaml(SHIPPED / f"{name_or_path}.yaml"))
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml"):
        return validate_model(Policy, read_yaml(path))
    raise UsageError(
        f"unknown policy {name_or_path!r}",
        suggestion(name_or_path, policy_names(), listing="policies")
        + "; a file of your own is given by its path, e.g. ./my_policy.yaml",
    )
