"""The model ``offline/reasoner``: reasons where a choice is asked for, and lists claims; else rules.

It reads the prompt alone. A game is recognised by the four cells that the situation spells out as
``baker open, grocer wait, 5 to the baker and 0 to the grocer``, a reasoning is asked for where the
part of the conversation wants a choice in curly braces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

import orjson
from pydantic import ValidationError

from pipeline.offline import engine as rules
from pipeline.offline.dice import Dice, hash_texts
from pipeline.offline.reading import answer_fields
from pipeline.offline_reasoner.reasoner import (
    AVERAGE,
    Rates,
    Reasoner,
    Weighing,
    in_words,
    temper_in,
)
from pipeline.offline_reasoner.sentences import claims_in
from pipeline.reasoning.claims import AboutGame
from pipeline.reasoning.game import Game
from pipeline.reasoning.log import chosen
from pipeline.reasoning.solver import correction

RATES: Final = Rates(error=0.25, mended=0.75, missed=0.05, uncovered=0.05)
"""How often the model errs, mends what it is told, overlooks a claim, and errs beyond all claims."""
ASKED_FOR: Final = "curly braces"
"""What a brief says where it wants a reasoning that ends with a choice."""
_REASONER: Final = Reasoner(RATES)
_SALT: Final = 77
_CELL: Final = re.compile(
    r"(?P<one>\w[\w' -]*?) (?P<mine>\w+), (?P<other>\w[\w' -]*?) (?P<theirs>\w+), "
    r"(?P<paid>-?\d+(?:\.\d+)?) to the (?P=one) and (?P<given>-?\d+(?:\.\d+)?) to the (?P=other)\b"
)
_SECTION: Final = re.compile(r"^# ([^\n]+)\n(.*?)(?=^# |\Z)", re.MULTILINE | re.DOTALL)


def answer(messages: Sequence[tuple[str, str]], seed: int) -> str:
    """Return the JSON text that answers a prompt made from the shipped templates.

    Raises:
        PromptNotUnderstood: a section that is needed is missing.
    """
    system = "\n".join(content for role, content in messages if role == "system")
    user = next((content for role, content in messages if role == "user"), "")
    sections = {name.strip(): text.strip() for name, text in _SECTION.findall(user)}
    dice = Dice(hash_texts(text for role, text in messages if role != "system"), seed, _SALT)
    keys = [field.name for field in answer_fields(system)]
    if keys == ["claims"]:
        return _json({"claims": _listed(sections.get("What is said", ""), dice)})
    game = game_in(sections)
    if game is None or "utterance" not in keys or ASKED_FOR not in sections.get("This part", ""):
        return rules.answer(messages, seed)
    text = in_words(_weighed(sections, game, dice), dice)
    plan = {"plan": "the payoffs first, then what they mean for me"} if "plan" in keys else {}
    if set(keys) <= {"plan", "utterance"}:
        return _json({**plan, "utterance": text})
    return _json({**orjson.loads(rules.answer(messages, seed)), "utterance": text})


def game_in(sections: Mapping[str, str]) -> Game | None:
    """Return the game that a situation spells out, as whoever is asked sees it; None without one."""
    own = re.search(r"^Role: (.+)$", sections.get("You", ""), re.MULTILINE)
    if own is None:
        return None
    payoffs: dict[str, dict[str, tuple[Decimal, Decimal]]] = {}
    for cell in _CELL.finditer(sections.get("Situation", "")):
        paid = (Decimal(cell["paid"]), Decimal(cell["given"]))
        if own[1].strip().endswith(cell["one"].strip()):
            payoffs.setdefault(cell["mine"], {})[cell["theirs"]] = paid
        else:
            payoffs.setdefault(cell["theirs"], {})[cell["mine"]] = paid[::-1]
    try:
        return Game(payoffs=payoffs)
    except (ValidationError, ValueError):
        return None


def _weighed(sections: Mapping[str, str], game: Game, dice: Dice) -> Weighing:
    """Return a first reasoning, or the next one where a draft was criticised."""
    draft = re.search(r"^Utterance: (.*)$", sections.get("The draft", ""), re.MULTILINE)
    before = None if draft is None else recalled(draft[1], game)
    if before is None or "Critique" not in sections:
        return _REASONER.weigh(game, dice)
    told = [c for c in before.claims if correction(c, game) in sections["Critique"]]
    return _REASONER.mend(before, told, game, dice)


def recalled(text: str, game: Game) -> Weighing | None:
    """Return the reasoning that was put into these words; None where they are somebody else's."""
    temper = temper_in(text)
    choice = chosen(text, game.choices)
    if temper is None or choice is None:
        return None
    claims: tuple[AboutGame, ...] = tuple(quoted.claim for quoted in claims_in(text))
    return Weighing(temper, claims, choice, AVERAGE in text)


def _listed(text: str, dice: Dice) -> list[dict[str, object]]:
    return [
        {"quote": quoted.quote, **quoted.claim.model_dump(mode="json")}
        for quoted in claims_in(text)
        if not _REASONER.overlooks(dice)
    ]


def _json(value: dict[str, object]) -> str:
    return orjson.dumps(value).decode()
