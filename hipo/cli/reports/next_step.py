"""What a user does next with a run, by the state it is in."""

from __future__ import annotations

from pathlib import Path

from hipo.cli.terminal.console import dollars, number
from hipo.cli.terminal.errors import ENDINGS, about_run
from pipeline.stopping import stop
from pipeline.store.queries.status import FINISHED, RUNNING, RunState
from scenarios.plural import plural
from scenarios.text_file import typed_path

_STOPPED = "stopped:"


def next_steps(folder: Path, state: RunState) -> list[str]:
    """Return what to do with a run, the most likely first; never nothing."""
    run = typed_path(folder)
    if state.state == RUNNING:
        return [f"hipo runs tail {run} follows it"]
    steps = [*_unfinished(folder, state), *_failed(run, state)]
    if state.generated:
        steps += _generated(folder, state)
    return steps or ["start it again with the command that began it"]


def _unfinished(folder: Path, state: RunState) -> list[str]:
    """Return how a run goes on that has something left to play."""
    if not state.pending and state.state.startswith(FINISHED):
        return []
    code = state.state.removeprefix(_STOPPED) if state.state.startswith(_STOPPED) else ""
    left = f"the {plural(state.pending, 'dialogue')} left"
    if code == stop.BUDGET:
        spent = f"{dollars(state.charged_usd)} and {number(state.charged_tokens)} tokens are spent"
        return [f"the same command with a higher budget plays {left} ({spent})"]
    if code and code != stop.INTERRUPTED:
        do = about_run(ENDINGS[code][1], folder) if code in ENDINGS else "the same command"
        return [f"{left}: {do}" if state.pending else do]
    return [f"the same hipo generate command plays {left}"] if state.pending else []


def _failed(run: str, state: RunState) -> list[str]:
    if not state.failed:
        return []
    failed = plural(sum(state.failed.values()), "case")
    return [f"hipo show {run} --failed says why {failed} failed; --retry-failed plays them again"]


def _generated(folder: Path, state: RunState) -> list[str]:
    """Return what to do with the dialogues that are there."""
    run = typed_path(folder)
    verdicts = state.verification.verdicts
    decided = sum(verdicts.values())
    if not decided:
        return [f"hipo verify {run} judges them and decides which are kept", f"hipo show {run}"]
    steps = []
    if decided < state.generated:
        left = plural(state.generated - decided, "dialogue")
        steps.append(f"hipo verify {run} decides on the {left} that nothing is decided on")
    if waiting := verdicts.get("pending", 0):
        people = f"hipo review serve {run} lets people decide on the {number(waiting)} pending"
        steps.append(f"{people}, hipo verify {run} --policy auto discards what is flagged")
    if accepted := verdicts.get("accepted", 0):
        kept = plural(accepted, "accepted dialogue")
        export = f"hipo export {run} --accepted -o {typed_path(f'sets/{folder.name}')}"
        steps.append(f"{export} makes a data set of the {kept}")
    steps.append(f"hipo report {run} writes a page about it")
    return steps
