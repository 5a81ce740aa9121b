"""What verification found: for programs, and for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hipo.app.verification.verify import Verified
from hipo.cli.reports.run import so_far, spending_as_json
from hipo.cli.terminal.console import columns, number, plain, reasons
from outputs.reliability.beyond_chance import BeyondChance, beyond_chance
from outputs.reliability.chairs import BLIND_READING, chairs
from outputs.reliability.foil_acceptance import FoilAcceptance, foil_acceptance
from outputs.reliability.judge_agreement import judged_dimensions
from pipeline.run_material import load_material
from pipeline.store.queries.judgements import FlagCount, FoundCount, Tally
from pipeline.store.queries.report import open_figures
from pipeline.store.queries.verdict_counts import VerdictCounts
from pipeline.store.run_store import RunStore
from scenarios.plural import plural
from scenarios.text_file import typed_path
from scenarios.verdicts import VERDICTS, Source

_SHARES: Mapping[str, str] = {
    "self": "self-consistency: share of labels found again",
    "external": "external judgement: share of labels carried",
    BLIND_READING: f"{BLIND_READING}, by one program in both chairs: share of labels found again",
}
"""What the table of shares is called, by the kind of judge, or by what its figures are called."""


@dataclass(frozen=True, slots=True)
class VerificationSummary:
    """What the store of a run holds about its verification."""

    generated: int
    counts: VerdictCounts
    tallies: tuple[Tally, ...]
    found: tuple[FoundCount, ...]
    beyond_chance: tuple[BeyondChance, ...]
    foils: tuple[FoilAcceptance, ...]
    flags: tuple[FlagCount, ...]
    order: tuple[str, ...]
    """Dimensions in the order of the scheme, with what only external judges are asked."""
    raised: str | None
    """The id of a dialogue whose judging raised an exception, if there is one."""

    @property
    def undecided(self) -> int:
        """Dialogues without a verdict."""
        return self.generated - sum(self.counts.verdicts.values())


def read_findings(folder: Path) -> VerificationSummary:
    """Read what is known about the verification of a run."""
    with RunStore.open(folder, readonly=True) as store, open_figures(folder) as figures:
        scheme = load_material(store).scheme
        named, trials = figures.named(scheme.assigned), figures.trials()
        return VerificationSummary(
            generated=store.state().generated,
            counts=store.judgements.counts(),
            tallies=tuple(store.judgements.tallies()),
            found=tuple(
                store.judgements.found([d.id for d in scheme.dimensions if d.by == "reader"])
            ),
            beyond_chance=beyond_chance(scheme, named),
            foils=foil_acceptance(scheme, trials),
            flags=tuple(store.judgements.flag_counts()),
            order=tuple(judged_dimensions(scheme)),
            raised=store.reader.raised_in_verification(),
        )


def findings_as_json(verified: Verified, findings: VerificationSummary) -> dict[str, object]:
    """Return what ``hipo verify --format json`` prints.

    ``folder``; ``dialogues``: generated ones; ``verified``: judged and decided on just now,
    ``present``: before, ``failed``: count by reason code; ``stopped``: why it ended early, or None;
    ``stop_code``: the same in a word, or empty; ``calls``: requests just sent; ``cost_usd``, ``unpriced_calls`` and
    ``charged``: over the life of the run, as in ``hipo runs show``; ``judged``: dialogues by judge; ``self_consistency`` and
    ``external``: lists of objects with ``judge``, ``dimension``, ``turns`` (None: all together),
    ``carried`` and ``judged`` (counts) and ``share``; ``found``: what judges named of dimensions
    that only readers label, objects with ``judge``, ``dimension``, ``goal``, ``label`` and ``n``;
    ``beyond_chance``: objects with ``source``, ``judge``, ``dimension``, ``items``, ``same`` (share
    that names the declared label), ``kappa``, ``shuffled`` (that share with declared labels shuffled
    within scenario and goal; None: none has another to change places with) and ``runner_up`` (share of the others
    that name it second);
    ``foils``: objects with ``judge``, ``dimension``, ``declared`` and ``foil`` (shares accepted),
    ``shown`` (answers), ``difference``, ``low`` and ``high`` (95 % interval over dialogues); ``flags``: a list of objects with ``code``,
    ``flags``, ``dialogues``; ``flagged``: dialogues with any; ``verdicts``: dialogues ``accepted``,
    ``discarded``, ``pending`` and ``undecided``; ``notes``.
    """
    outcome = verified.outcome
    return {
        "folder": str(verified.folder),
        "dialogues": findings.generated,
        "verified": outcome.done,
        "present": outcome.present,
        "failed": dict(outcome.failed),
        "stopped": outcome.stopped,
        "stop_code": outcome.stop_code,
        "calls": verified.calls,
        **spending_as_json(verified.state),
        "judged": dict(findings.counts.judged),
        "self_consistency": _shares_as_json(findings, "self"),
        "external": _shares_as_json(findings, "external"),
        "found": [plain(one, "judge dimension goal label n") for one in findings.found],
        "beyond_chance": [
            plain(one, "source judge dimension items same kappa shuffled runner_up")
            for one in findings.beyond_chance
        ],
        "foils": [_foil(one) for one in findings.foils],
        "flags": [plain(flag, "code flags dialogues") for flag in findings.flags],
        "flagged": findings.counts.flagged,
        "verdicts": _verdicts(findings),
        "notes": list(verified.notes),
    }


def findings_as_text(verified: Verified, findings: VerificationSummary) -> str:
    """Return what was done and found the way ``hipo verify`` prints it."""
    outcome = verified.outcome
    lines = []
    if not (verified.calls or outcome.done or outcome.failed or outcome.stopped):
        lines.append(
            f"0 calls, nothing to do: {plural(outcome.present, 'dialogue')} verified already"
        )
    else:
        failed = sum(outcome.failed.values())
        lines.append(
            f"{number(outcome.done)} verified, {number(failed)} failed, "
            f"{number(outcome.present)} verified already; {plural(verified.calls, 'call')}"
        )
    if outcome.failed:
        lines.append(
            f"not judged: {reasons(outcome.failed)}; the same command tries them again, and until"
            " then a verdict of an earlier verification holds"
        )
    if findings.raised is not None:
        lines.append(
            f"  internal_error: hipo show {typed_path(verified.folder)} {findings.raised} says where"
        )
    lines += _tables(findings)
    return "\n".join([*lines, *verified.notes, so_far(verified.state), f"in {verified.folder}"])


def verification_tables(folder: Path) -> str:
    """Return what judges and rules found in a run so far, and the verdicts."""
    return "\n".join(_tables(read_findings(folder)))


def _tables(findings: VerificationSummary) -> list[str]:
    lines: list[str] = []
    seats = _seats(findings)
    for source, name in seats.items():
        rows = [t for t in findings.tallies if t.source == source]
        title = f"{_SHARES.get(name, _SHARES[source])}, by number of turns"
        lines += ["", title, _table(rows, findings.order)]
    if findings.found:
        rows_of = [
            [one.judge, one.dimension, one.goal or "(not given)", str(one.label), number(one.n)]
            for one in findings.found
        ]
        lines += ["", columns(["judge", "asked", "goal", "found", "times"], rows_of)]
    if findings.beyond_chance:
        table = [
            [
                f"{BLIND_READING if seats[one.source] == BLIND_READING else one.source} {one.judge}",
                one.dimension,
                f"{one.same:.1%}",
                "" if one.kappa is None else f"{one.kappa:.2f}",
                "" if one.shuffled is None else f"{one.shuffled:.1%}",
                "" if one.runner_up is None else f"{one.runner_up:.1%}",
            ]
            for one in findings.beyond_chance
            if one.source in seats
        ]
        heads = ["labels named blind", "dimension", "same", "kappa", "shuffled", "runner-up"]
        lines += ["", columns(heads, table)]
    if findings.foils:
        table = [
            [
                one.judge,
                one.dimension,
                f"{one.declared.value:.1%}",
                f"{one.foil.value:.1%}",
                f"{one.difference:+.1%}",
                "" if one.interval is None else f"{one.interval.low:+.1%} {one.interval.high:+.1%}",
                number(one.foil.judged),
            ]
            for one in findings.foils
        ]
        heads = ["accepts on trial", "dimension", "declared", "foil", "difference", "95%", "shown"]
        lines += ["", columns(heads, table)]
    if findings.flags:
        rows_of = [[f.code, number(f.flags), number(f.dialogues)] for f in findings.flags]
        lines += ["", columns(["flag", "raised", "dialogues"], rows_of)]
    shown = ", ".join(f"{number(n)} {name}" for name, n in _verdicts(findings).items() if n)
    return [*lines, "", f"verdicts: {shown or 'none'}"]


def _seats(findings: VerificationSummary) -> dict[Source, str]:
    """Return the kinds of judges whose figures are shown; one program in both chairs is shown once."""
    judges: defaultdict[Source, set[str]] = defaultdict(set)
    for tally in findings.tallies:
        judges[tally.source].add(tally.judge)
    named = {(one.source, one.dimension) for one in findings.beyond_chance}
    return dict(chairs(judges, named))


def _foil(one: FoilAcceptance) -> dict[str, object]:
    near = one.interval
    return {
        "judge": one.judge,
        "dimension": one.dimension,
        "declared": one.declared.value,
        "foil": one.foil.value,
        "shown": one.foil.judged,
        "difference": one.difference,
        "low": None if near is None else near.low,
        "high": None if near is None else near.high,
    }


def _table(tallies: Sequence[Tally], order: Sequence[str]) -> str:
    """Return one row per judge and dimension, one column per number of turns, and all."""
    lengths = sorted({tally.turns for tally in tallies})
    cells: defaultdict[tuple[str, str], dict[int, Tally]] = defaultdict(dict)
    for tally in tallies:
        cells[tally.judge, tally.dimension][tally.turns] = tally
    rows = []
    for judge, dimension in sorted(cells, key=lambda key: (key[0], _place(key[1], order))):
        by_length = cells[judge, dimension]
        row = [_percent([by_length[length]]) if length in by_length else "" for length in lengths]
        everything = list(by_length.values())
        judged = number(sum(tally.judged for tally in everything))
        rows.append([judge, dimension, *row, _percent(everything), judged])
    heads = [f"n={length}" for length in lengths]
    return columns(["judge", "dimension", *heads, "all", "judged"], rows)


def _percent(tallies: Iterable[Tally]) -> str:
    listed = list(tallies)
    judged = sum(tally.judged for tally in listed)
    return f"{100 * sum(tally.carried for tally in listed) / judged:.1f}%" if judged else ""


def _shares_as_json(findings: VerificationSummary, source: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for tally in findings.tallies:
        if tally.source != source:
            continue
        rows.append(_share(tally.judge, tally.dimension, tally.turns, tally.carried, tally.judged))
        carried, judged = sums.get((tally.judge, tally.dimension), (0, 0))
        sums[tally.judge, tally.dimension] = carried + tally.carried, judged + tally.judged
    rows += [
        _share(judge, dimension, None, carried, judged)
        for (judge, dimension), (carried, judged) in sums.items()
    ]
    return rows


def _share(
    judge: str, dimension: str, turns: int | None, carried: int, judged: int
) -> dict[str, object]:
    return {
        "judge": judge,
        "dimension": dimension,
        "turns": turns,
        "carried": carried,
        "judged": judged,
        "share": carried / judged if judged else None,
    }


def _verdicts(findings: VerificationSummary) -> dict[str, int]:
    counts: dict[str, int] = {v: findings.counts.verdicts.get(v, 0) for v in VERDICTS}
    return {**counts, "undecided": findings.undecided}


def _place(dimension: str, order: Sequence[str]) -> int:
    return order.index(dimension) if dimension in order else len(order)
