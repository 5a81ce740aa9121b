"""Logs and forms that tests make up, in the form of the protocol."""

from pipeline.reasoning.game import shipped_games
from pipeline.reasoning.log import LoggedAttempt, logged_claim, read_log, write_log
from quality.reasoning.samples import make_sample

RIGHT = "higher_guaranteed_payoff('R', 'B')."
WRONG = "highest_mutual_payoff('R', 'R')."
"""In a Prisoner's Dilemma."""


def attempt(number, choice, *claims, failed=()):
    return LoggedAttempt(
        number,
        f"I thought about it. {{{choice}}}",
        tuple(logged_claim(text) for text in claims),
        tuple(failed),
        "Think again." if failed else None,
    )


def log_text(*attempts):
    return write_log(attempts)


def corrected(first="R", last="B"):
    """A log whose first attempt has a wrong claim and whose second has none."""
    return log_text(
        attempt(0, first, RIGHT, WRONG, failed=[WRONG]),
        attempt(1, last, RIGHT),
    )


def right(choice="R"):
    return log_text(attempt(0, choice, RIGHT))


def sample(text, name="log_pd_1.txt", **settings):
    return make_sample(read_log(text, name), shipped_games(), **settings)
