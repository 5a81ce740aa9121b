"""When nothing but errors or silence counts as an outage, told by what happened and when."""

import pytest

from pipeline.endpoints.outage import CASES_IN_A_ROW
from tests.pipeline.watched_endpoint import RULES, URL, Watched


def errs(watched, times, every_s=1.0, cases=CASES_IN_A_ROW, sign="erring", **more):
    for i in range(times):
        watched.after(every_s)
        said = {"said": "the engine is dead", "case": str(i % cases), **more}
        watched.settle(watched.admit(), sign, None if sign == "silent" else 500, **said)


def test_nothing_but_errors_for_some_cases_are_an_outage_which_is_told_with_what_they_say():
    w = Watched.in_service()
    errs(w, 10)
    assert not w.it.away
    errs(w, 1)
    assert w.it.away
    (told,) = w.news
    assert told.message.startswith(
        f"{URL} answers compatible/m with nothing but errors (status 500: the engine is dead): "
        "waiting up to 60 min, next try in 15 s"
    )
    w.settle(w.after(15.0).admit(), "erring", 500)
    assert w.it.away
    w.settle(w.after(15.0).admit(), "answered")
    assert not w.it.away
    errs(w, CASES_IN_A_ROW - 1, every_s=10.0)
    assert not w.it.away, "they are counted anew"


@pytest.mark.parametrize("sign", ["erring", "silent"])
def test_what_becomes_of_a_few_prompts_however_often_or_of_a_moment_is_no_outage(sign):
    w = Watched.in_service()
    errs(w, 100, every_s=60.0, cases=CASES_IN_A_ROW - 1, sign=sign)
    w.settle(w.admit(), "answered")
    errs(w, 100, every_s=0.01, sign=sign)
    assert not w.it.away


@pytest.mark.parametrize("sign", ["erring", "silent"])
@pytest.mark.parametrize("before", [True, False])
def test_errors_of_an_endpoint_that_never_answered_are_not_waited_out(before, sign):
    w = Watched(answered_before=lambda _: before)
    errs(w, CASES_IN_A_ROW, every_s=5.0, sign=sign)
    assert w.it.away is before


def given_up_from_the_start(watched, times, **more):
    """Return whether one that never answered is given up after errors five seconds apart."""
    errs(watched, times, every_s=5.0, **more)
    return watched.it.given_up(watched.now)


def test_an_endpoint_that_errs_from_the_start_is_given_up_after_a_minute():
    w = Watched()
    assert given_up_from_the_start(w, 12) is None
    assert given_up_from_the_start(w, 1) == (
        f"{URL} answers compatible/m with nothing but errors (status 500: the engine is dead), and "
        "has answered no request yet"
    )


def test_a_few_prompts_that_err_from_the_start_say_nothing_of_the_endpoint():
    assert given_up_from_the_start(Watched(), 100, cases=CASES_IN_A_ROW - 1) is None


def unheard(watched, *times_s, cases=CASES_IN_A_ROW):
    """Send requests of some cases that come to nothing, in one time limit after the other."""
    first = watched.admit()
    watched.after(RULES.alone_s).look()  # it takes long: others may follow
    watched.it.give_back(first, watched.now)
    for waited_s in times_s:
        sent = [watched.admit() for _ in range(cases)]
        watched.after(waited_s)
        for case, admission in enumerate(sent):
            said = {"case": str(case), "waited_s": waited_s, "hint": "raise --timeout"}
            watched.settle(admission, "silent", **said)
    return watched.it.given_up(watched.now)


def test_an_endpoint_that_is_silent_from_the_start_is_given_up_after_a_quarter_of_an_hour():
    w = Watched()
    assert unheard(w, 120.0, 240.0, 480.0) is None
    assert unheard(w, 480.0) == (
        f"{URL} leaves requests for compatible/m unanswered, and has answered no request yet "
        "(raise --timeout)"
    )


def test_a_slow_endpoint_is_given_twice_the_usual_time_before_it_counts_as_silent_from_the_start():
    w = Watched()
    assert unheard(w, 1200.0) is None
    assert unheard(w, 2400.0) is not None


def test_a_few_prompts_that_nobody_answers_from_the_start_say_nothing_of_the_endpoint():
    assert unheard(Watched(), 120.0, 240.0, 480.0, 480.0, cases=CASES_IN_A_ROW - 1) is None


def test_any_answer_ends_the_count_of_errors_from_the_start():
    w = Watched()
    assert given_up_from_the_start(w, 12) is None
    w.settle(w.admit(), "answered")
    errs(w, 1, every_s=5.0)
    assert w.it.given_up(w.now) is None
    assert not w.it.away
