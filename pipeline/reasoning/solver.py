"""The solver: whether a claim holds in a game, and what holds instead."""

from __future__ import annotations

from pipeline.reasoning.claims import AboutGame
from pipeline.reasoning.game import Game


def holds(claim: AboutGame, game: Game) -> bool:
    """Tell whether a claim is true of a game.

    ``highest`` and ``lowest`` are reached by all that tie, ``higher`` and ``lower`` by none of
    them. The payoff of both together is their sum. A claim about a choice that the game does not
    have is false.
    """
    return not _strangers(claim, game) and claim.is_true_of(game)


def correction(claim: AboutGame, game: Game) -> str:
    """Return one sentence on what holds in place of a claim that does not, with the numbers."""
    truth = _strangers(claim, game) or claim.truth(game)
    return f"It does not hold that {claim.words()}: {truth}."


def _strangers(claim: AboutGame, game: Game) -> str:
    """Say of the first named choice that is none of the game; empty where all of them are."""
    own, others = claim.named()
    for names, known, whose in ((own, game.choices, "yours"), (others, game.replies, "theirs")):
        for name in names:
            if name not in known:
                return f"{name!r} is no choice of {whose}, which are {' and '.join(known)}"
    return ""
