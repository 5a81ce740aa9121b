"""An audit in words and tables, for the terminal, the report and the card."""

from __future__ import annotations

from collections.abc import Sequence

from outputs.audit.findings import Audit, ShortcutFinding
from outputs.audit.probes import ProbeKind
from outputs.dataset.told_audit import AuditTable, ToldAudit
from scenarios.plural import plural

MUST_NOT = "Must tell nothing (! for certain better than chance)"
ONLY_TOLD = "Read off the words themselves, what answers them, or tied labels: told, never gated"
_NOTHING = "\u2013"
_MARK = " !"
_HOW = (
    "Each scenario is guessed from the others; lines that come again ('opening again') from other "
    "pairs of the same scenario. The floor is the commonest label of the scenario, chance what "
    "permuted labels reach; p and what a score is at least are corrected for {tests}."
)


def told_audit(audit: Audit, *, of_run: str = "") -> ToldAudit:
    """Return an audit in sentences and tables, without the tables that are empty.

    Args:
        audit: what was found.
        of_run: the run that was audited, where what is told of is not that run itself.
    """
    tables = (
        shortcut_table(audit),
        score_table(audit, ("must-not",), MUST_NOT),
        score_table(audit, ("surface", "tied"), ONLY_TOLD),
        frame_table(audit),
    )
    return ToldAudit(
        tuple(audit_sentences(audit)), tuple(table for table in tables if table.rows), of_run
    )


def shortcut_table(audit: Audit) -> AuditTable:
    """Return what reads a label for certain and must not."""
    return AuditTable(
        "Shortcuts",
        ("probe", "reads", "score", "95%", "floor", "chance", "at least", "of the way", "p"),
        tuple(_shortcut(finding) for finding in audit.shortcuts),
    )


def _shortcut(f: ShortcutFinding) -> tuple[str, ...]:
    return (
        f.probe, f.dimension, _number(f.score), _spread(f), _number(f.floor), _number(f.chance),
        _number(f.bound), _NOTHING if f.part is None else f"{f.part:.0%}",
        _NOTHING if f.p_corrected is None else f"{f.p_corrected:.3f}",
    )  # fmt: skip


def score_table(audit: Audit, kinds: Sequence[ProbeKind], caption: str) -> AuditTable:
    """Return the scores of the probes of some kinds, one column per dimension."""
    findings = [f for f in audit.findings if f.kind in kinds]
    dimensions = list(dict.fromkeys(f.dimension for f in audit.findings))
    by_place = {(f.kind, f.probe, f.dimension): f for f in findings}
    rows = []
    for kind, probe in dict.fromkeys((f.kind, f.probe) for f in findings):
        cells = (by_place.get((kind, probe, d)) for d in dimensions)
        name = f"{probe} (with tied labels)" if kind == "tied" else probe
        rows.append((name, *map(_score, cells)))
    return AuditTable(caption, ("guessed from", *dimensions), tuple(rows))


def frame_table(audit: Audit) -> AuditTable:
    """Return what scores are to be read against, one column per dimension."""
    dimensions = list(dict.fromkeys(f.dimension for f in audit.findings))
    if not dimensions:
        return AuditTable("To be read against", ("",), ())
    of = {d: [f for f in audit.findings if f.dimension == d] for d in dimensions}
    gated = {d: [f for f in of[d] if f.kind == "must-not"] for d in dimensions}
    floors = [_number(max(f.floor for f in of[d])) for d in dimensions]
    ceilings = [
        _number(audit.ceilings[d].value if d in audit.ceilings else None) for d in dimensions
    ]
    return AuditTable(
        "To be read against",
        ("", *dimensions),
        (
            ("measured in", *(of[d][0].measure for d in dimensions)),
            ("floor", *floors),
            ("ceiling", *ceilings),
            ("could be seen from", *(_visible(gated[d]) for d in dimensions)),
        ),
    )


def _visible(findings: Sequence[ShortcutFinding]) -> str:
    """Return the differences from chance that probes could have seen, the least and the greatest."""
    if not findings:
        return _NOTHING
    if any(f.visible is None for f in findings):
        return "nothing"
    points = sorted(100 * (f.visible or 0.0) for f in findings)
    return f"{points[0]:.1f} to {points[-1]:.1f} points"


def audit_sentences(audit: Audit) -> list[str]:
    """Return what an audit found, and how far it could see, in plain words."""
    if not audit.findings and not audit.skipped:
        remarks = [f"{remark[0].upper()}{remark[1:]}." for remark in audit.remarks]
        return [
            "Nothing to audit: no dimension has one label for each answer, and no goal.",
            *remarks,
        ]
    found = len(audit.shortcuts)
    some = "" if audit.dialogues == audit.of else f"{audit.dialogues:,} of "
    of = f"{some}{plural(audit.of, 'dialogue')},"
    what = f"{found} shortcut{'' if found == 1 else 's'}" if found else "no shortcut"
    seen = (
        f"{what} in {of} {plural(audit.answers, 'answer')}, "
        f"{plural(audit.scenarios, 'scenario')}; {plural(audit.tests, 'reading')} "
        f"{'was' if audit.tests == 1 else 'were'} to be no better than chance"
    )
    lines = [seen, _HOW.format(tests=plural(audit.tests, "reading"))]
    gated = [f.visible for f in audit.findings if f.kind == "must-not"]
    told = [value for value in gated if value is not None]
    if len(told) < len(gated) or not gated:
        lines.append(
            f"With {plural(audit.scenarios, 'scenario')} some readings could see nothing at all: no shortcut "
            "found does not mean that there is none."
        )
    else:
        middle = sorted(told)[len(told) // 2]
        lines.append(
            f"With {plural(audit.scenarios, 'scenario')} and this many answers, a difference from chance below "
            f"{100 * middle:.1f} points (the middle one; {100 * min(told):.1f} to "
            f"{100 * max(told):.1f}) could not be told from chance."
        )
    for tie in audit.ties:
        shares = ", ".join(
            f"{share:.1%} of answers under {goal}" for goal, share in tie.shares.items()
        )
        lines.append(
            f"Tied by the scheme: {tie.name} ({shares}). {tie.reason} What must not tell the goal "
            "was read up to the first such label of a dialogue, and compared at the same place."
        )
    for dimension, ceiling in audit.ceilings.items():
        lines.append(
            f"Ceiling of {dimension}: {ceiling.value:.3f}, {ceiling.reader}, who knows the fact and "
            f"not the label ({ceiling.readings:,} readings)."
        )
    lines += _skipped(audit)
    lines += [f"{remark[0].upper()}{remark[1:]}." for remark in audit.remarks]
    return lines


def _skipped(audit: Audit) -> list[str]:
    """Say which probes were not asked, those with the same reason together."""
    by_reason: dict[str, dict[str, list[str]]] = {}
    for one in audit.skipped:
        if one.kind != "tied":
            by_reason.setdefault(one.why, {}).setdefault(one.probe, []).append(one.dimension)
    return [
        f"Not asked ({why}): "
        + ", ".join(f"{probe} for {', '.join(of)}" for probe, of in probes.items())
        + "."
        for why, probes in by_reason.items()
    ]


def _score(finding: ShortcutFinding | None) -> str:
    if finding is None:
        return ""
    return _number(finding.score) + (_MARK if finding.found else "")


def _spread(finding: ShortcutFinding) -> str:
    if finding.low is None or finding.high is None:
        return _NOTHING
    return f"{finding.low:.3f}{_NOTHING}{finding.high:.3f}"


def _number(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.3f}"
