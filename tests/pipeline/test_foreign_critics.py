"""What critics and verifiers of plugins return: nothing follows from what is none of theirs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pipeline.critics.foreign import ForeignCritic, built_critic
from pipeline.critics.registry import CRITICS
from pipeline.critics.verifier import ClaimVerification
from pipeline.expected_calls import ArmParts
from pipeline.verifiers.registry import VERIFIERS, VerifierExtension
from scenarios.dialogue import CheckedClaim, CheckedUtterance, Critique, TacticLabel
from scenarios.errors import UsageError
from scenarios.plugins import PLUGINS, load_plugins
from tests.pipeline.test_strategies import CASE, PROMPTS, TASK, USED_CAR, ScriptedAsker, draft

pytestmark = pytest.mark.anyio
GOOD = Critique("veracity", False, "too plain")
FOUND = CheckedUtterance("prices", (CheckedClaim("price", "a 3", True, "It is."),))


class Critic:
    def __init__(self, returned):
        self.returned = returned

    async def critique(self, task, draft, revision):
        return self.returned


@pytest.mark.parametrize("returned", [(), (GOOD,), [GOOD], (replace(GOOD, dimension="mood"),)])
async def test_critiques_pass_as_they_are(returned):
    assert await ForeignCritic("mine", Critic(returned)).critique(TASK, draft("x"), 0) == tuple(
        returned
    )


@pytest.mark.parametrize(
    ("returned", "error", "told"),
    [
        (None, TypeError, "the critic 'mine' returned None: not a list of Critique"),
        ("all bad", TypeError, "not a list of Critique"),
        ((None,), TypeError, "the critic 'mine' returned None: not a Critique"),
        ((replace(GOOD, carried="no"),), TypeError, "'no' as carried, not a valid boolean"),
        ((replace(GOOD, carried=math.nan),), TypeError, "nan as carried"),
        ((replace(GOOD, reason=5),), TypeError, "5 as reason"),
        ((replace(GOOD, dimension=7),), TypeError, "7 as dimension"),
        ((replace(GOOD, reason="\ud800"),), ValueError, "cannot be stored: .*surrogates"),
    ],
)
async def test_what_is_no_critique_is_an_error_of_its_case(returned, error, told):
    with pytest.raises(error, match=told):
        await ForeignCritic("mine", Critic(returned)).critique(TASK, draft("x"), 0)


def test_critics_of_plugins_are_looked_at_and_those_that_ship_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(PLUGINS, "files", {})
    monkeypatch.setattr(PLUGINS, "packages", ())
    path = tmp_path / "mine.py"
    path.write_text(
        "from pipeline.critics.registry import CriticExtension\n"
        "class Mine:\n    async def critique(self, task, draft, revision):\n        return ()\n"
        "EXTENSIONS = [CriticExtension('mine', lambda parts: Mine())]\n"
    )
    load_plugins([path])
    parts = ArmParts(PROMPTS, ScriptedAsker(), None)
    assert CRITICS.names()[-1] == "mine"
    assert isinstance(built_critic("mine", parts), ForeignCritic)
    assert not isinstance(built_critic("reflection", parts), ForeignCritic)
    path.write_text(path.read_text().replace("Mine()", "None"))
    load_plugins([path])
    with pytest.raises(UsageError, match=r"the critic 'mine' of .* built None, expected"):
        built_critic("mine", parts)


class Verifier:
    def __init__(self, returned):
        self.returned = returned

    def question(self, templates, text):
        return PROMPTS.responder(TASK.view, TASK.history, ())

    def verify(self, claims):
        return self.returned


async def verified(monkeypatch, returned):
    extension = VerifierExtension("prices", lambda scenario, role: Verifier(returned))
    monkeypatch.setattr(VERIFIERS, "find", {"prices": extension}.get)
    shop = USED_CAR.model_copy(update={"data": {"prices": {}}})
    parts = ArmParts(PROMPTS, ScriptedAsker(()), None, {CASE.scenario: shop})
    return await ClaimVerification(parts).verify(TASK, draft("x"), 0)


@pytest.mark.parametrize(
    "label",
    [("veracity", "Quality"), ("honest", "yes"), ("doubt", 0.5), ("kinds", ("a", "b"))],
)
async def test_what_a_verifier_finds_passes_with_labels_of_its_own(monkeypatch, label):
    found = replace(FOUND, labels=(TacticLabel(*label),))
    assert await verified(monkeypatch, found) is found


@pytest.mark.parametrize(
    ("returned", "error", "told"),
    [
        (None, TypeError, "the verifier returned None: not a CheckedUtterance"),
        ({"claims": ()}, TypeError, "not a CheckedUtterance"),
        (replace(FOUND, claims=5), TypeError, "5 as claims"),
        (replace(FOUND, claims=(replace(FOUND.claims[0], holds=1),)), TypeError, "claims.0.holds"),
        (replace(FOUND, claims=(replace(FOUND.claims[0], reason=None),)), TypeError, "reason"),
        (replace(FOUND, labels=(TacticLabel("honest", math.nan),)), TypeError, "nan as labels.0"),
        (replace(FOUND, labels=(TacticLabel("honest", True),)), TypeError, "True as labels.0"),
        (
            replace(FOUND, labels=(TacticLabel("veracity", "Truth"),)),
            ValueError,
            "the verifier named veracity 'Truth', which the scheme hipo@2 does not know",
        ),
    ],
)
async def test_what_it_cannot_find_is_an_error_of_its_case(monkeypatch, returned, error, told):
    with pytest.raises(error, match=told):
        await verified(monkeypatch, returned)
