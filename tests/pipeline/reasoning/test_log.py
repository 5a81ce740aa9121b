from hypothesis import given
from hypothesis import strategies as st

from pipeline.reasoning.game import shipped_games
from pipeline.reasoning.log import (
    LoggedAttempt,
    chosen,
    is_log,
    logged_claim,
    read_log,
    write_log,
)
from tests.cpu_limit import cpu_limit
from tests.pipeline.reasoning.games import unhurried

LOG = """###ATTEMPT##0~
RESPONSE##
I take about ~50 % of it. {B}
No: {R}~

PREDICATES##
higher(5, 3).
highest_mutual_payoff('R', 'R').
highest of all.~

FAILED QUERIES##
highest_mutual_payoff('R', 'R').~

CORRECTING PROMPT##
- think again~

###ATTEMPT##1~
RESPONSE##
So be it: {B}~

PREDICATES##
~

FAILED QUERIES##
~

"""


def test_a_log_is_read_into_its_attempts():
    log = read_log(LOG, "log_1.txt")
    first, second = log.attempts
    assert [first.choice(("R", "B")), second.choice(("R", "B"))] == ["R", "B"]
    assert [claim.claim is None for claim in first.predicates] == [False, False, True]
    assert [claim.text for claim in first.failing(shipped_games()["pd"])] == list(first.failed)
    assert first.correcting == "- think again"
    assert (second.predicates, second.failed, second.correcting) == ((), (), None)
    assert log.problems == ("attempt 0: no predicate of this name: highest of all.",)


def test_a_log_is_written_as_it_was_read():
    assert write_log(read_log(LOG, "log_1.txt").attempts) == LOG


def test_a_line_that_looks_like_a_header_stays_part_of_the_response():
    response = "###ATTEMPT##7~\nPREDICATES##\nhigher(1, 2).~\nRESPONSE##"
    read = read_log(write_log([LoggedAttempt(0, response, ())]), "log")
    assert len(read.attempts) == 1
    assert not read.problems
    assert [line.strip() for line in read.attempts[0].response.split("\n")] == response.split("\n")


lines = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=30)
predicates = st.lists(lines.map(str.strip).filter(bool), max_size=4)
attempts = st.builds(
    lambda response, claims, failed, correcting: LoggedAttempt(
        0,
        response,
        None if claims is None else tuple(logged_claim(text) for text in claims),
        None if failed is None else tuple(failed),
        correcting,
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\r")),
    st.none() | predicates,
    st.none() | predicates,
    st.none() | lines,
)


@unhurried
@given(attempts)
def test_what_is_written_is_read_again_whatever_was_said(attempt):
    (read,) = read_log(write_log([attempt]), "log").attempts
    texts = None if attempt.predicates is None else [claim.text for claim in attempt.predicates]
    assert _words(read.response) == _words(attempt.response)
    if texts is None:
        assert read.predicates is None
    else:
        assert [_words(claim.text) for claim in read.predicates] == [_words(t) for t in texts]
    assert (read.failed is None) == (attempt.failed is None)
    assert _words(read.correcting or "") == _words(attempt.correcting or "")


def _words(text):
    return text.rstrip("~ \n").split()


@unhurried
@given(
    st.text(), st.lists(st.sampled_from(LOG.splitlines(keepends=True)), max_size=12).map("".join)
)
def test_any_text_is_read_with_a_report_and_never_a_traceback(noise, shuffled):
    for text in (noise, shuffled, noise + shuffled, LOG.replace("\n", "\r\n") + noise):
        log = read_log(text, "log")
        assert is_log(text) == bool(log.attempts)
        assert log.attempts or log.problems


def test_a_line_of_blanks_that_begins_no_attempt_takes_no_time():
    with cpu_limit(5):
        assert not is_log("###ATTEMPT##0" + 40_000 * " " + "x")


def test_oddities_of_the_form_are_told():
    text = "Hello\n###ATTEMPT##1~\nRESPONSE##\nfirst\nRESPONSE##\nagain~\n###ATTEMPT##4\nPREDICATES##\n~"
    assert read_log(text, "log").problems == (
        "there is text before the first attempt; it was left out",
        "attempt 1: RESPONSE does not end with ~",
        "attempt 1: RESPONSE is there twice; the first counts",
        "attempt 4: there is no RESPONSE",
        "attempts are numbered 1, 4",
    )


def test_the_choice_is_the_last_one_in_braces_however_it_is_marked():
    assert chosen("First {B}, then {**R**}.", ("R", "B")) == "R"
    assert chosen(r"\{R\} and {share}", ("share", "sharecrop")) == "share"
    assert chosen("{share}{sharecrop}", ("share", "sharecrop")) == "sharecrop"
    assert chosen("I choose R. {X}", ("R", "B")) is None
