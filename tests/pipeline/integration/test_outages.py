"""Servers that really go away and come back: what waits, what is lost (nothing), what is paid."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from hipo.app.generation.generate import generate
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.models import endpoints
from hipo.app.options.verification import VerificationOverrides
from hipo.app.running.watching import Silent
from hipo.app.study import study
from hipo.app.verification.verify import verify
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.offline_judge.engine import answer as judge_answer
from pipeline.playing.runner import Progress
from pipeline.providers.retry import RetryPolicy
from pipeline.recipes.recipe import Recipe
from pipeline.stopping.stop import UNAVAILABLE
from scenarios.errors import UsageError
from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import count, rows
from tests.wire.faults import Faults
from tests.wire.server import WireServer

WORKERS = [None, pytest.param(2, marks=pytest.mark.slow)]
"""In the process of the run, and in two others."""
BUSY = {"error": {"message": "the model is loading"}}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait as always, on a clock that runs fifty times as fast."""
    rules = partial(WaitRules, confirm_s=0.02, probe_s=0.3, unserved_s=0.2)
    monkeypatch.setattr(endpoints, "WaitRules", rules)
    policy = partial(RetryPolicy, initial_s=0.02, max_pause_s=0.6)
    monkeypatch.setattr(endpoints, "RetryPolicy", policy)


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer(latency_s=0.01, keep=False) as running:
        yield running


class Meddler(Silent):
    """Watches a run, and does something to its server at a moment of the run's own."""

    def __init__(
        self,
        when_done: int = 0,
        then: Callable[[], None] = lambda: None,
        on_outage: Callable[[], None] = lambda: None,
    ) -> None:
        self.notes: list[str] = []
        self._left = when_done
        self._then = then
        self._on_outage = on_outage

    def see(self, progress: Progress) -> None:
        self._left -= progress.count
        if self._left == 0:
            self._then()

    def note(self, message: str) -> None:
        self.notes.append(message)
        if "Ctrl-C stops" in message:
            self._on_outage()

    @property
    def outages(self) -> list[str]:
        return [n for n in self.notes if "Ctrl-C stops" in n or "takes requests again" in n]


def faulty(server: WireServer, faults: Faults) -> tuple[Callable[[], None], Callable[[], None]]:
    """Return what makes a server have faults, and what mends it."""
    return partial(setattr, server, "faults", faults), partial(setattr, server, "faults", Faults())


def recipe(server: WireServer, n: int = 30, **changes: object) -> Recipe:
    return Recipe.model_validate(
        {
            "n": n,
            "turns": [1],
            "openings": "by-goal",
            "models": {"default": {"model": "compatible/rules", "base_url": server.openai_url}},
            "limits": {"max_concurrency": 8},
            "verification": {"gates": {"off": ["near_duplicate"]}},
            **changes,
        }
    )


def assert_nothing_lost(run: Path, server: WireServer, dialogues: int) -> None:
    """Every case is generated, its calls paid once, and the server saw what the store holds."""
    assert rows(run, "select status, count(*) from dialogues group by 1") == [
        ("generated", dialogues)
    ]
    over_wire = "select count(*) from requests where model like 'compatible/%'"
    assert rows(run, f"{over_wire} and code = 'ok'") == [(2 * dialogues,)]
    sent = rows(run, f"{over_wire} and message not like 'no connection%'")[0][0]
    # what was on a connection that the server closed at that moment may not have reached it
    broken = rows(run, f"{over_wire} and message like '%broke%'")[0][0]
    assert sent - broken <= server.count <= sent


@pytest.mark.parametrize("workers", WORKERS)
def test_a_server_that_is_killed_and_started_again_costs_no_case(
    server: WireServer, tmp_path: Path, workers: int | None
) -> None:
    watcher = Meddler(10, server.go_away, server.come_back)
    run = generate(recipe(server), output=tmp_path / "run", watcher=watcher, workers=workers)
    assert run.outcome is not None
    assert run.outcome.stopped is None
    assert_nothing_lost(tmp_path / "run", server, 30)
    began, ended = watcher.outages
    hint = "(is a server running there?)"
    assert began.startswith(f"no connection to {server.openai_url} {hint}: waiting up to 60 min")
    assert ended.startswith(f"{server.openai_url} takes requests again after ")


def test_a_server_that_is_started_after_the_run_is_waited_for(
    server: WireServer, tmp_path: Path
) -> None:
    server.go_away()
    watcher = Meddler(on_outage=server.come_back)
    generate(recipe(server), output=tmp_path / "run", watcher=watcher)
    assert_nothing_lost(tmp_path / "run", server, 30)
    assert len(watcher.outages) == 2


@pytest.mark.parametrize(
    ("status", "workers"),
    [
        (503, None),
        pytest.param(503, 2, marks=pytest.mark.slow),
        (502, None),
        (522, None),
        (500, None),
    ],
)
def test_a_server_that_cannot_serve_for_a_while_costs_no_case(
    server: WireServer, tmp_path: Path, status: int, workers: int | None
) -> None:
    watcher = Meddler(10, *faulty(server, Faults(canned=(status, BUSY))))
    generate(recipe(server), output=tmp_path / "run", watcher=watcher, workers=workers)
    assert_nothing_lost(tmp_path / "run", server, 30)
    assert f"(status {status}" in watcher.outages[0]
    assert len(watcher.outages) == 2


def test_a_server_that_errs_from_the_start_ends_the_run_before_a_case_has_failed(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "WaitRules", partial(WaitRules, at_first_s=0.3))
    break_it, mend_it = faulty(server, Faults(canned=(500, BUSY)))
    break_it()
    run = tmp_path / "run"
    broken = generate(recipe(server), output=run).outcome
    assert broken is not None
    assert (broken.stop_code, broken.done, broken.failed) == (UNAVAILABLE, 0, {})
    assert "(status 500: the model is loading), and has answered no request" in str(broken.stopped)
    assert count(run, "dialogues") == 0
    mend_it()
    generate(recipe(server), output=run)
    assert_nothing_lost(run, server, 30)


def test_a_server_that_answers_nothing_from_the_start_ends_the_run_before_a_case_has_failed(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "WaitRules", partial(WaitRules, silent_at_first_s=0.6))
    break_it, mend_it = faulty(server, Faults(rates={"hang": 1.0}))
    break_it()
    run, hasty = tmp_path / "run", recipe(server, limits={"timeout_s": 0.2})
    broken = generate(hasty, output=run).outcome
    assert broken is not None
    assert (broken.stop_code, broken.done, broken.failed) == (UNAVAILABLE, 0, {})
    assert "unanswered, and has answered no request yet (raise --timeout" in str(broken.stopped)
    mend_it()
    generate(recipe(server), output=run)
    assert_nothing_lost(run, server, 30)


def test_cases_that_failed_before_an_outage_was_known_to_be_one_are_played_again_after_it(
    server: WireServer, tmp_path: Path
) -> None:
    """With one request in flight it takes five cases, four of which have failed by then."""

    narrow = recipe(server, 12, limits={"max_concurrency": 1, "max_attempts": 5})
    watcher = Meddler(5, *faulty(server, Faults(canned=(500, BUSY))))
    done = generate(narrow, output=tmp_path / "run", watcher=watcher)
    assert done.outcome is not None
    assert (done.outcome.done, done.outcome.failed, done.outcome.stopped) == (12, {}, None)
    assert len(watcher.outages) == 2
    assert_nothing_lost(tmp_path / "run", server, 12)
    assert rows(tmp_path / "run", "select distinct retry_epoch from dialogues") == [(0,)]


def test_a_server_that_answers_nothing_for_a_while_costs_no_case(
    server: WireServer, tmp_path: Path
) -> None:
    hasty = recipe(server, limits={"max_concurrency": 8, "timeout_s": 0.5, "max_attempts": 2})
    watcher = Meddler(10, *faulty(server, Faults(rates={"hang": 1.0})))
    done = generate(hasty, output=tmp_path / "run", watcher=watcher)
    assert done.outcome is not None
    assert (done.outcome.done, done.outcome.failed, done.outcome.stopped) == (30, {}, None)
    began, ended = watcher.outages
    assert "leaves requests for compatible/rules unanswered (raise --timeout or" in began
    assert "takes requests again" in ended


def test_a_server_that_stays_away_ends_the_run_which_goes_on_with_the_same_command(
    server: WireServer, tmp_path: Path
) -> None:
    short = recipe(server, limits={"max_concurrency": 8, "wait_for_endpoint": 1})
    first = generate(short, output=tmp_path / "run", watcher=Meddler(10, server.go_away))
    assert first.outcome is not None
    assert first.outcome.stop_code == UNAVAILABLE
    assert str(first.outcome.stopped).startswith(f"no connection to {server.openai_url} for ")
    assert first.outcome.failed == {}
    server.come_back()
    second = generate(short, output=tmp_path / "run")
    assert second.outcome is not None
    assert second.outcome.stopped is None
    assert_nothing_lost(tmp_path / "run", server, 30)


def test_verification_waits_for_its_judge(server: WireServer, tmp_path: Path) -> None:
    offline = recipe(server, models={"default": {"model": "offline/rules"}})
    generate(offline, output=tmp_path / "run")
    server.answer = judge_answer
    watcher = Meddler(10, server.go_away, server.come_back)
    overrides = VerificationOverrides(base_url=server.openai_url, self_judgement=False)
    done = verify(
        tmp_path / "run", judges=["compatible/judge"], overrides=overrides, watcher=watcher
    )
    assert (done.outcome.done, done.outcome.failed, done.outcome.stopped) == (30, {}, None)
    assert len(watcher.outages) == 2


@pytest.mark.parametrize("accepted", [None, 12])
def test_what_was_not_judged_before_an_outage_was_known_to_be_one_is_judged_after_it(
    server: WireServer, tmp_path: Path, accepted: int | None
) -> None:
    """Every case is tried once, and the outage is declared with the fifth that fails."""

    server.answer = judge_answer
    narrow = recipe(
        server,
        12,
        models={"default": {"model": "offline/rules"}},
        limits={"max_concurrency": 1, "max_attempts": 5},
    )
    judging = VerificationOverrides(
        judges=["compatible/judge"],
        base_url=server.openai_url,
        self_judgement=False,
        policy="gates",
    )
    watcher = Meddler(5, *faulty(server, Faults(canned=(500, BUSY))))
    play = VerifiedPlay(judging, accepted=accepted, most=12)
    done = generate(narrow, output=tmp_path / "run", watcher=watcher, play=play)
    assert done.outcome is not None
    assert (done.outcome.unjudged, done.outcome.failed) == ({}, {})
    assert len(watcher.outages) == 2
    assert rows(tmp_path / "run", "select count(*) from assessments") == [(12,)]


def test_a_study_waits_for_the_models_it_compares(server: WireServer, tmp_path: Path) -> None:
    watcher = Meddler(3, server.go_away, server.come_back)
    outcome = study(
        recipe(server, 8, limits={"max_concurrency": 2}),
        models=["compatible/rules"],
        strategies=["direct"],
        output=tmp_path / "study",
        overrides=VerificationOverrides(judges=["offline/judge"], self_judgement=False),
        watcher=watcher,
    )
    assert outcome.stopped is None
    assert_nothing_lost(tmp_path / "study" / "compatible_rules", server, 8)
    assert len(watcher.outages) == 2


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        (Faults(key="another"), "invalid key"),
        (
            Faults(canned=(400, {"error": {"message": "Invalid model name passed in model=m"}})),
            "Invalid model name",
        ),
        (
            Faults(
                canned=(
                    400,
                    {
                        "error": {
                            "message": "request (2302 tokens) exceeds the available context size",
                            "type": "exceed_context_size_error",
                            "n_prompt_tokens": 2302,
                            "n_ctx": 2048,
                        }
                    },
                )
            ),
            "it holds 2,048 tokens, and 2,302 are needed",
        ),
    ],
)
def test_what_no_call_can_get_past_ends_the_run_after_one_request_with_no_case_failed(
    server: WireServer, tmp_path: Path, faults: Faults, says: str
) -> None:
    server.faults = faults
    with pytest.raises(UsageError, match=says):
        generate(recipe(server), output=tmp_path / "run")
    assert server.count == 1
    assert count(tmp_path / "run", "dialogues") == 0


@pytest.mark.parametrize("workers", WORKERS)
def test_a_server_that_speaks_no_tls_ends_the_run_at_once(
    server: WireServer, tmp_path: Path, workers: int | None
) -> None:
    url = server.openai_url.replace("http:", "https:")
    models = {"default": {"model": "compatible/rules", "base_url": url}}
    with pytest.raises(UsageError, match="no TLS with https://") as ended:
        generate(recipe(server, models=models), output=tmp_path / "run", workers=workers)
    assert ended.value.hint == "does it speak http, not https?"
    assert count(tmp_path / "run", "dialogues") == 0


def test_the_command_line_ends_with_5_and_says_what_to_do(
    server: WireServer, tmp_path: Path
) -> None:
    server.go_away()
    done = Hipo(tmp_path).here(
        "generate", "--model", "compatible/rules", "--base-url", server.openai_url, "-n", "5",
        "--wait-for-endpoint", "0", "-q", "-o", "run", code=5,
    )  # fmt: skip
    assert f"no connection to {server.openai_url}" in done.stderr
    assert count(tmp_path / "run", "dialogues") == 0


@pytest.mark.parametrize("workers", WORKERS)
def test_an_interrupt_ends_the_wait_with_3(
    server: WireServer, tmp_path: Path, workers: int | None
) -> None:
    server.go_away()
    process = Hipo(tmp_path).start(
        "generate", "--model", "compatible/rules", "--base-url", server.openai_url, "-n", "5",
        "-o", "run", *([] if workers is None else ["--workers", str(workers)]),
    )  # fmt: skip
    for line in process.stderr:
        if "Ctrl-C stops" in line:
            break
    process.send_signal(signal.SIGINT)
    process.communicate()  # an hour would be waited for otherwise
    assert process.returncode == 3
    assert count(tmp_path / "run", "dialogues") == 0
