"""A run says what to do with it next, whatever state it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.cli.reports.next_step import next_steps
from pipeline.store.queries.status import RunState
from pipeline.store.queries.verdict_counts import VerdictCounts

FOLDER = Path("runs/trial")


def state_of(
    state: str = "finished",
    *,
    planned: int = 10,
    generated: int = 10,
    failed: dict[str, int] | None = None,
    verdicts: dict[str, int] | None = None,
) -> RunState:
    return RunState(
        name="trial", state=state, planned=planned, generated=generated, failed=failed or {},
        calls=30, cached_calls=0, prompt_tokens=900, completion_tokens=100, cached_tokens=0,
        reasoning_tokens=0, cost_usd=0.05, unpriced_calls=0, charged_usd=0.05,
        charged_tokens=1_000, calls_in_flight=0, calls_lost=0, arms=(), created=0.0, updated=0.0,
        verification=VerdictCounts(verdicts or {}),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("state", "first"),
    [
        (state_of("new", planned=0, generated=0), "start it again with the command that began it"),
        (state_of("running", generated=3), "hipo runs tail runs/trial follows it"),
        (
            state_of("stopped:interrupted", generated=4),
            "the same hipo generate command plays the 6 dialogues left",
        ),
        (
            state_of("interrupted", generated=9),
            "the same hipo generate command plays the 1 dialogue left",
        ),
        (
            state_of("stopped:budget", generated=4),
            (
                "the same command with a higher budget plays the 6 dialogues left "
                "($0.0500 and 1,000 tokens are spent)"
            ),
        ),
        (
            state_of("stopped:unavailable", generated=4),
            "the 6 dialogues left: once the endpoint answers, go on with the same command",
        ),
        (
            state_of("stopped:not_enough"),
            (
                "see why with: hipo verdict runs/trial ID; a larger -n allows more cases where all were "
                "played, a larger give_up_after more tries for a cell of a quota that was given up"
            ),
        ),
        (
            state_of("finished_with_failures", generated=8, failed={"empty": 2}),
            "hipo show runs/trial --failed says why 2 cases failed; --retry-failed plays them again",
        ),
        (state_of(), "hipo verify runs/trial judges them and decides which are kept"),
        (
            state_of(verdicts={"accepted": 6}),
            "hipo verify runs/trial decides on the 4 dialogues that nothing is decided on",
        ),
        (
            state_of(verdicts={"accepted": 6, "pending": 4}),
            (
                "hipo review serve runs/trial lets people decide on the 4 pending, "
                "hipo verify runs/trial --policy auto discards what is flagged"
            ),
        ),
        (
            state_of(verdicts={"accepted": 6, "discarded": 4}),
            (
                "hipo export runs/trial --accepted -o sets/trial "
                "makes a data set of the 6 accepted dialogues"
            ),
        ),
        (state_of(verdicts={"discarded": 10}), "hipo report runs/trial writes a page about it"),
    ],
)
def test_the_first_step_fits_the_state(state: RunState, first: str) -> None:
    assert next_steps(FOLDER, state)[0] == first


def test_a_finished_run_with_something_left_is_told_to_go_on() -> None:
    steps = next_steps(FOLDER, state_of("finished", planned=300, generated=116))
    assert steps[0] == "the same hipo generate command plays the 184 dialogues left"


def test_what_was_stopped_can_still_be_judged() -> None:
    steps = next_steps(FOLDER, state_of("stopped:budget", generated=4))
    assert steps[1].startswith("hipo verify runs/trial")


def test_a_command_can_be_typed_as_it_is_printed_whatever_the_folder_is_called() -> None:
    steps = next_steps(Path("my runs/trial 1"), state_of(verdicts={"accepted": 10}))
    assert steps[0].startswith("hipo export 'my runs/trial 1' --accepted -o 'sets/trial 1' ")
    assert steps[-1] == "hipo report 'my runs/trial 1' writes a page about it"
