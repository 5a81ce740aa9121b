"""What the policy of a run does with flags, and from where on the rules raise them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from outputs.report.gathered import Gathered
from outputs.report.page import Block, Remark, Table
from quality.gates.settings import GateSettings, gate_settings
from quality.verification.policy import Consequence, Policy, load_policy, policy_names
from scenarios.errors import UsageError

_DONE: Mapping[Consequence, str] = {
    "ignore": "is ignored",
    "review": "waits for people",
    "discard": "is discarded",
}
_UNFLAGGED = {"accepted": "is accepted", "pending": "waits for people"}


def policy_blocks(run: Gathered) -> list[Block]:
    """Return a table of the rules of each policy, and one of the thresholds beside it."""
    blocks: list[Block] = []
    for name in run.policies:
        policy = _policy(run, name)
        if policy is None:
            blocks.append(Remark(f"What the policy {name} says is not stored in the run."))
            continue
        blocks.append(_rules(policy))
        thresholds = _thresholds(run, name)
        if thresholds:
            blocks.append(Remark(f"Thresholds of the rules that need no model: {thresholds}."))
    return blocks


def _policy(run: Gathered, name: str) -> Policy | None:
    """Return a policy as the run stores it; one that ships where an older hipo verified the run."""
    stored = run.material.policy(name)
    if stored is not None:
        try:
            return Policy.model_validate(stored["policy"])
        except (KeyError, ValidationError):  # another version of hipo knew other rules
            return None
    return load_policy(name) if name in policy_names() else None


def _rules(policy: Policy) -> Table:
    rows = [
        (
            ", ".join(rule.flags) + (f", {rule.times} times or more" if rule.times > 1 else ""),
            "any" if rule.at_least is None else f"{rule.at_least:g} or more",
            _DONE[rule.then],
        )
        for rule in policy.rules
    ]
    rows.append(("any other flag" if rows else "any flag", "any", _DONE[policy.flagged]))
    rows.append(("no flag", "", _UNFLAGGED[policy.unflagged]))
    header = ("a dialogue with the flag", "of severity", "what follows")
    return Table(f"The policy {policy.name}", header, tuple(rows))


def asked_rules(run: Gathered) -> GateSettings | None:
    """Return the settings of the gates that the run was verified by; None where nobody knows."""
    stored: Any = (run.material.policy(next(iter(run.policies), "")) or {}).get("gates")
    try:
        return gate_settings(run.material.recipe.verification.gates if stored is None else stored)
    except UsageError:  # a gate of a plugin that is not there
        return None


def _thresholds(run: Gathered, name: str) -> str:
    """Return the settings of the gates; as the recipe says where they are not stored."""
    stored: Any = (run.material.policy(name) or {}).get("gates")
    if stored is None:
        try:
            stored = gate_settings(run.material.recipe.verification.gates).model_dump(mode="json")
        except UsageError:  # a gate of a plugin that is not there
            return ""
    return ", ".join(
        f"{key.replace('_', ' ')} {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in sorted(stored.items())
        if value != []
    )
