"""What is decided about an endpoint, told by what happened and when; no waiting, no network."""

from itertools import pairwise

import pytest

from pipeline.endpoints.outage import CASES_IN_A_ROW
from pipeline.endpoints.signs import call_sign
from pipeline.endpoints.wait_rules import WaitRules
from pipeline.store.call_rows import RequestRow
from tests.pipeline.watched_endpoint import RULES, URL, Watched


def test_a_moment_without_connection_is_tried_again_soon_and_not_told():
    w = Watched.in_service()
    w.settle(w.admit(), "unconnected")
    assert w.admit() is None
    assert w.it.next_change(w.now) == RULES.confirm_s
    w.settle(w.after(RULES.confirm_s).admit(), "answered")
    assert w.admit() is not None
    assert not w.news


def test_an_outage_is_told_once_and_its_end_with_how_long_it_was():
    w = Watched.in_service().cut_off()
    w.tries_until(300.0)
    w.settle(w.after(w.it.next_change(w.now)).admit(), "answered")
    began, ended = w.news
    assert began.message == (
        "no connection to http://127.0.0.1:8000/v1: waiting up to 60 min, next try in 15 s; "
        "Ctrl-C stops, nothing is lost"
    )
    assert ended.message == "http://127.0.0.1:8000/v1 takes requests again after 5 min 1 s"
    assert began.what == ended.what


def test_an_outage_is_told_as_the_error_has_it_and_with_what_can_be_done():
    says = f"the certificate of {URL} is not trusted"
    w = Watched.in_service(rules=WaitRules(wait_s=100.0)).cut_off(said=says, hint="name its file")
    assert w.news[0].message.startswith(f"{says} (name its file): waiting up to 1 min 40 s, next")
    assert w.after(100.0).it.given_up(w.now) == f"{says} for 1 min 41 s (name its file)"
    w.settle(w.admit(), "answered")
    assert (w.news[1].what, w.news[1].began) == (says, False)


def test_an_admission_says_whether_the_endpoint_has_answered_anybody_in_this_process():
    w = Watched(answered_before=lambda _: True)
    first = w.admit()
    assert not first.answered
    w.settle(first, "answered")
    assert w.admit("responder").answered


def test_one_call_goes_to_see_every_15_to_30_seconds():
    w = Watched.in_service().cut_off()
    times = [w.now, *w.tries_until(1200.0)]
    pauses = {round(after - before, 6) for before, after in pairwise(times)}
    assert pauses == {15.0, 30.0}
    assert len(times) < 60


def test_while_one_has_gone_to_see_the_others_wait():
    w = Watched.in_service().cut_off().after(15.0)
    probe = w.admit()
    assert probe.outage
    assert w.admit() is None
    assert w.it.holds(probe)


def test_what_was_let_through_before_an_outage_holds_no_longer_and_does_not_end_it():
    w = Watched.in_service()
    early, late = w.admit(), w.admit()
    w.cut_off()
    assert not w.it.holds(early)
    w.settle(early, "answered")
    w.settle(late, "unconnected")
    assert w.it.away
    assert len(w.news) == 1


@pytest.mark.parametrize("sign", ["answered", "slow_down", "failed"])
def test_any_answer_of_the_endpoint_ends_an_outage(sign):
    w = Watched.in_service().cut_off().after(15.0)
    w.settle(w.admit(), sign)
    assert not w.it.away
    assert [news.began for news in w.news] == [True, False]


def test_a_connection_that_breaks_does_not_end_an_outage():
    w = Watched.in_service().cut_off().after(15.0)
    w.settle(w.admit(), "broken")
    assert w.it.away


def test_a_call_that_waits_for_its_answer_shows_that_the_outage_is_over():
    w = Watched.in_service().cut_off().after(15.0)
    w.admit()
    w.after(RULES.alone_s).look()
    assert not w.it.away
    assert w.news[-1].began is False


def test_refusals_to_serve_are_an_outage_after_ten_seconds_without_a_success():
    w = Watched.in_service()
    for _ in range(9):
        w.settle(w.admit(), "unserved")
        assert not w.it.away
        w.after(1.0)
    w.settle(w.admit(), "answered")
    for _ in range(10):
        w.settle(w.admit(), "unserved", 503)
        assert not w.it.away
        w.after(1.0)
    w.settle(w.admit(), "unserved", 502)
    assert w.it.away
    (told,) = w.news
    assert "does not serve compatible/m (status 502)" in told.message
    assert told.seconds == 10.0


def hanging(**options):
    """Return an endpoint that has answered once, and left five cases waiting for two minutes."""
    w = Watched.in_service(**options)
    sent = [w.admit() for _ in range(CASES_IN_A_ROW)]
    w.after(120.0)
    for case, admission in enumerate(sent):
        w.settle(admission, "silent", case=str(case), waited_s=120.0, hint="raise --timeout")
    return w


def test_an_endpoint_that_answers_nobody_in_time_is_away_since_it_last_answered():
    (told,) = hanging().news
    assert told.message.startswith(
        f"{URL} leaves requests for compatible/m unanswered (raise --timeout): waiting up to 60 min"
    )
    assert told.seconds == 120.0


def test_while_nothing_is_answered_one_call_after_the_other_goes_to_see_and_any_answer_is_the_end():
    w = hanging()
    first = w.after(15.0).admit()
    w.after(RULES.alone_s).look()
    assert w.it.away, "that it waits shows nothing"
    second = w.after(15.0).admit()
    assert second is not None
    w.settle(first, "silent", case="0", waited_s=120.0)
    assert w.admit() is None
    w.after(RULES.alone_s).look()
    w.settle(first, "answered")
    assert not w.it.away
    assert w.news[-1].message == f"{URL} takes requests again after 3 min 30 s"


def test_an_endpoint_that_answers_nobody_is_given_up_while_calls_still_wait_for_it():
    w = hanging(rules=WaitRules(wait_s=600.0))
    while w.it.given_up(w.now) is None:
        w.admit()
        w.after(w.it.next_change(w.now)).look()
    assert w.now == 600.0
    assert "unanswered for 10 min" in w.it.given_up(w.now)


def test_where_the_wait_is_over_when_requests_run_into_their_limit_none_is_announced():
    w = hanging(rules=WaitRules(wait_s=60.0))
    assert not w.news
    assert "unanswered for 2 min (raise --timeout)" in w.it.given_up(w.now)


def test_a_server_that_still_loads_its_model_is_asked_once_a_second_then_waited_for():
    w = Watched()
    first = w.admit()
    w.settle(first, "unserved")
    tries = 0
    while not w.news:
        w.after(w.it.next_change(w.now))
        w.settle(w.admit(), "unserved")
        tries += 1
    assert (tries, w.now) == (10, 10.0)
    assert w.it.next_change(w.now) == RULES.probe_s


def test_an_endpoint_is_given_up_after_the_time_that_was_allowed():
    w = Watched.in_service(rules=WaitRules(wait_s=100.0)).cut_off()
    w.tries_until(1e9)
    assert w.now == 100.0
    assert w.it.given_up(w.now) == f"no connection to {URL} for 1 min 40 s"


def test_without_waiting_the_second_try_without_connection_gives_up_and_nothing_is_announced():
    w = Watched(rules=WaitRules(wait_s=0.0)).cut_off()
    assert w.it.given_up(w.now) == f"no connection to {URL}"
    assert not w.news


def test_nothing_but_refusals_for_the_rate_are_given_up_after_the_time_that_was_allowed():
    w = Watched(rules=WaitRules(wait_s=600.0))
    while w.it.given_up(w.now) is None:
        w.settle(w.admit(), "slow_down")
        w.after(50.0)
    assert w.now == 600.0
    assert "has refused every request for compatible/m for 10 min" in w.it.given_up(w.now)


def test_one_success_among_refusals_for_the_rate_begins_the_time_anew():
    w = Watched(rules=WaitRules(wait_s=600.0))
    w.settle(w.admit(), "slow_down")
    w.settle(w.after(599.0).admit(), "answered")
    w.settle(w.after(1.0).admit(), "slow_down")
    assert w.it.given_up(w.now) is None


def test_a_pause_longer_than_is_waited_for_is_not_waited_for_once_it_was_named_twice():
    w = Watched(rules=WaitRules(wait_s=600.0))
    w.settle(w.admit(), "slow_down", asked_s=36_000.0, said="limit of the day")
    assert w.it.given_up(w.now) is None
    w.settle(w.after(60.0).admit(), "slow_down", asked_s=35_940.0, said="limit of the day")
    told = w.it.given_up(w.now)
    assert "a pause of 9 h 59 min before it serves compatible/m again" in told
    assert told.endswith("limit of the day")


@pytest.mark.parametrize("between", ["answered", "failed"])
def test_a_long_pause_that_is_not_named_twice_in_a_row_stops_nothing(between):
    w = Watched(rules=WaitRules(wait_s=600.0))
    for _ in range(3):
        w.settle(w.admit(), "slow_down", asked_s=36_000.0)
        w.settle(w.after(1.0).admit(), between)
    w.settle(w.admit(), "slow_down", asked_s=36_000.0)
    w.settle(w.admit(), "slow_down", asked_s=5.0)
    assert w.it.given_up(w.now) is None


def test_not_to_wait_does_not_mean_to_stop_at_the_first_refusal_for_the_rate():
    w = Watched(rules=WaitRules(wait_s=0.0))
    w.settle(w.admit(), "slow_down")
    assert w.it.given_up(w.after(RULES.refused_s - 1).now) is None
    assert w.it.given_up(w.after(1.0).now) is not None


def row(code, status=None):
    return RequestRow(
        0, "initiator", "arm", "case", 2, "p", "m", sent_at=0.0, latency_s=0.0, code=code, status=status
    )  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "code", "status", "sign"),
    [
        ("answered", "ok", None, "answered"),
        ("slow_down", "rate_limited", 429, "slow_down"),
        ("unavailable", "unreachable", None, "unconnected"),
        ("unavailable", "server_fault", 503, "unserved"),
        ("failed", "unreachable", None, "broken"),
        ("failed", "unauthorised", 401, "refused"),
        ("failed", "context_exceeded", 400, "refused"),
        ("failed", "bad_request", 400, "failed"),
        ("failed", "cancelled", None, "nothing"),
        ("failed", "timeout", None, "silent"),
        ("failed", "server_fault", 500, "erring"),
        ("failed", "server_fault", None, "erring"),
    ],
)
def test_the_record_of_a_request_says_what_it_means_for_its_endpoint(outcome, code, status, sign):
    assert call_sign(outcome, row(code, status)).sign == sign
