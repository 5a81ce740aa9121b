"""What an evaluation takes, and what it found: for programs, and for people."""

from __future__ import annotations

from hipo.app.evaluation import estimates as evaluation_estimates
from hipo.app.evaluation.estimates import EvaluationEstimate
from hipo.app.evaluation.evaluate import ModelsEvaluated
from hipo.app.evaluation.plan import ReadyEvaluation
from hipo.cli.evaluate.scores import all_scores_as_text
from hipo.cli.reports.budget_coverage import coverage_in_words
from hipo.cli.reports.estimate import at_providers_as_text, batches_as_json, batches_as_text
from hipo.cli.reports.run import charges_in_words, spending_as_json
from hipo.cli.terminal.console import columns, dollars, number, one_line, plain, reasons
from scenarios.plural import plural
from scenarios.text_file import typed_path

_REASONS = 3
"""Why items have no answer: so many are told, each in so many characters."""
_WIDTH = 160


def estimate_as_json(estimate: EvaluationEstimate) -> dict[str, object]:
    """Return what ``hipo evaluate --dry-run --format json`` prints.

    ``items``: of the set; ``calls``; ``tasks``: a list of objects with ``model``, ``task``,
    ``mode``, ``answers`` (still to be given), ``present`` (there already), ``calls``,
    ``prompt_tokens``, ``completion_tokens`` and ``cost_usd`` (None: no price is known);
    ``cost_usd``: the sum, None if any is unknown; ``at_providers``: requests of an earlier start that
    lie at providers in batches and are counted once more; ``budget``: how far it reaches, null
    without one or where nothing costs: an object with ``budget_usd``, ``budget_tokens``,
    ``spent_usd``, ``spent_tokens``, ``share`` of what is still to be paid for and ``answers``, about how
    many that is; ``batches``: what ``hipo generate --dry-run`` says there, of items; ``note``: what the estimate rests on.
    """
    covered, limits = estimate.budget, "budget_usd budget_tokens spent_usd spent_tokens share"
    fields = "model task mode answers present calls prompt_tokens completion_tokens cost_usd"
    tasks = [plain(line, fields) for line in estimate.lines]
    return plain(
        estimate, "items calls tasks cost_usd at_providers", tasks=tasks,
        budget=covered and plain(covered, limits, answers=covered.dialogues),
        batches=batches_as_json(estimate.batches),
        note=evaluation_estimates.NOTE,
    )  # fmt: skip


def estimate_as_text(estimate: EvaluationEstimate, ready: ReadyEvaluation) -> str:
    """Return the estimate the way ``hipo evaluate --dry-run`` prints it."""
    rows = [
        [line.model, line.task, line.mode, number(line.answers), number(line.present),
         number(line.calls), number(line.prompt_tokens), number(line.completion_tokens),
         dollars(line.cost_usd)]
        for line in estimate.lines
    ]  # fmt: skip
    covered, batches = estimate.budget, estimate.batches
    header = [
        "model", "task", "mode", "answers", "there", "calls", "prompt tokens", "answer tokens",
        "cost",
    ]  # fmt: skip
    return "\n".join(
        [
            (
                f"{plural(estimate.items, 'item')} of {ready.items.name}, scheme"
                f" {ready.items.scheme.name}"
            ),
            *ready.items.notes,
            "",
            columns(header, rows),
            "",
            f"in all {plural(estimate.calls, 'call')}, {dollars(estimate.cost_usd)}",
            *([coverage_in_words(covered, estimate.answers, "answer")] if covered else ()),
            *([batches_as_text(batches, "item", repaired=False)] if batches else ()),
            "",
            *([at_providers_as_text(estimate.at_providers), ""] if estimate.at_providers else ()),
            f"({evaluation_estimates.NOTE})",
        ]
    )


def evaluated_as_json(done: ModelsEvaluated) -> dict[str, object]:
    """Return what ``hipo evaluate --format json`` prints.

    ``folder``; ``answered``: answers given just now, ``present``: before, ``failed``: count by
    reason code; ``stopped``: why it ended early, or None; ``stop_code``: the same in a word, or
    empty; ``calls``: requests just sent; ``counts``: answers there are now by status
    (``answered``, ``unreadable``, ``refused``, ``failed``); ``cut_off``: how many of them were cut
    off before their last label; ``cost_usd``: over the life of the
    evaluation, None where no price is known; ``unpriced_calls`` (not in it) and ``charged``, what
    counts against a budget: as in ``hipo runs show``; ``rows``: of ``results``, the path of the rows;
    ``page`` and ``scores``: paths, None where they were not written; ``notes``.
    """
    outcome, written = done.outcome, done.written
    return {
        "folder": str(done.folder),
        "answered": outcome.done,
        "present": outcome.present,
        "failed": dict(outcome.failed),
        "stopped": outcome.stopped,
        "stop_code": outcome.stop_code,
        "calls": done.calls,
        "counts": dict(done.counts),
        "cut_off": done.cut_off,
        **spending_as_json(done.charges),
        "rows": done.results.rows,
        "results": str(done.results.path),
        "page": None if written is None else str(written.page),
        "scores": None if written is None else str(written.scores),
        "notes": list(done.notes),
    }


def evaluated_as_text(done: ModelsEvaluated) -> str:
    """Return what was done the way ``hipo evaluate`` prints it."""
    outcome, counts = done.outcome, done.counts
    failed = sum(outcome.failed.values())
    if not (done.calls or outcome.done or failed or outcome.stopped):
        lines = [f"0 calls, nothing to do: {plural(outcome.present, 'answer')} there already"]
    else:
        spent = charges_in_words(done.charges)
        lines = [
            (
                f"{number(outcome.done)} answered, {number(failed)} failed,"
                f" {number(outcome.present)} there already; {plural(done.calls, 'call')}, {spent} in all"
            )
        ]
    wrong = {name: counts[name] for name in ("unreadable", "refused") if counts.get(name)}
    if wrong:
        lines.append(f"counted as wrong: {reasons(wrong)}")
    if done.cut_off:
        lines.append(
            f"cut off before the last label, which counts as wrong: {plural(done.cut_off, 'answer')};"
            " a higher --max-tokens asks these again with --resume always"
        )
    if counts.get("failed"):
        lines.append(f"without an answer: {number(counts['failed'])}; --retry-failed asks again")
        shown = done.failures[:_REASONS]
        lines += [f"  {number(one.n)} {one.code}: {one_line(one.reason, _WIDTH)}" for one in shown]
        if more := sum(one.n for one in done.failures[_REASONS:]):
            lines.append(f"  {number(more)} for other reasons, which the rows tell")
    lines.append(f"{plural(done.results.rows, 'row')} in {done.results.path}")
    if done.written is not None:
        from outputs.evaluation.leaderboard import (  # noqa: PLC0415 - only with a page
            mark_remarks,
        )

        found = done.written.evaluated.shown
        lines += ["", all_scores_as_text(found.scores, found.signed), ""]
        lines += [remark.text for remark in mark_remarks(found)]
        lines.append(f"the whole of it: {done.written.page}")
    elif done.results.rows:
        what = "figures and a page" if done.complete else "figures and a page of what is there"
        lines.append(f"hipo evaluate report {typed_path(done.folder)} makes {what}")
    return "\n".join(lines)
