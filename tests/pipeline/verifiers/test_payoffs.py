import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.reasoning.claims import CLAIM_KINDS, GuaranteedBest, PairPayoff
from pipeline.reasoning.game import shipped_games
from pipeline.verifiers.claim_format import QuotedClaim, claims_format
from pipeline.verifiers.payoffs import PayoffVerifier, payoff_data
from pipeline.verifiers.registry import verifier_for
from prompts.environment import Templates
from prompts.responses import Unreadable
from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme
from tests.pipeline.reasoning.games import claims_about, games, is_true, unhurried

MATRIX = {"R": {"R": [1, 1], "B": [5, 0]}, "B": {"R": [0, 4], "B": [3, 3]}}


@pytest.fixture(scope="module")
def plain_scenario():
    return Catalogue.load(environment={}).entries["used_car"].scenario


def with_data(scenario, **payoffs):
    return scenario.model_copy(update={"data": {"payoffs": payoffs}})


several = games().flatmap(
    lambda game: st.tuples(st.just(game), st.lists(claims_about(game), max_size=4))
)


@unhurried
@given(several)
def test_no_wrong_claim_of_a_checked_kind_passes_and_no_right_one_fails(drawn):
    game, claims = drawn
    found = PayoffVerifier(game, {}).verify(tuple(QuotedClaim(claim) for claim in claims))
    verdicts = {claim.notation: claim.holds for claim in found.claims}
    assert verdicts == {claim.predicate(): is_true(claim, game) for claim in claims}
    labels = {label.dimension: label.value for label in found.labels}
    assert found.holds is all(verdicts.values())
    assert labels["correct"] == str(int(found.holds))
    wrong = {claim.mistake for claim in claims if not is_true(claim, game)}
    assert set(labels.get("err_type", ())) == wrong


@unhurried
@given(several)
def test_claims_that_a_model_writes_as_asked_are_read_as_they_are(drawn):
    _, claims = drawn
    plain = [{"quote": "so I say", **claim.model_dump(mode="json")} for claim in claims]
    read = claims_format().read(json.dumps({"claims": plain}))
    assert [quoted.claim for quoted in read] == claims


def test_what_models_put_around_values_is_taken_off():
    item = {
        "Kind": "Pair_Payoff", "quote": "five  dollars", "whose": "YOU", "amount": "$5",
        "mine": "{R}", "theirs": "'B'",
    }  # fmt: skip
    (read,) = claims_format().read(json.dumps({"claims": [item]}))
    assert read == QuotedClaim(
        PairPayoff(whose="you", amount=5, mine="R", theirs="B"), "five dollars"
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({}, "no JSON object with the keys"),
        ({"claims": None}, "claims: missing"),
        ({"claims": "none"}, "claims: found"),
        ({"claims": ["R is best"]}, r"claims\[0\]: found"),
        ({"claims": [{"kind": "best", "choice": "R"}]}, r"claims\[0\]: found"),
        ({"claims": [{"kind": "guaranteed_best"}]}, r"claims\[0\]: found"),
        ({"claims": [{"kind": "guaranteed_best", "choice": "R"}] * 61}, "61 claims"),
    ],
)
def test_what_is_no_list_of_claims_is_sent_back_with_its_reason(answer, reason):
    with pytest.raises(Unreadable, match=reason):
        claims_format().read(json.dumps(answer))


def test_the_question_explains_every_kind_and_shows_no_payoffs():
    verifier = PayoffVerifier(shipped_games()["pd"], {"R": "tell on the other"})
    question = verifier.question(Templates(), "I get 77 with R.")
    system, user = (message.content for message in question.messages)
    assert all(kind.model_fields["kind"].default in system for kind in CLAIM_KINDS)
    assert "Yours: R (tell on the other)" in user
    assert "I get 77 with R." in user
    assert not any(f" {amount}" in user for amount in (0, 1, 3, 5))


def test_labels_of_claims_are_labels_of_the_scheme():
    scheme = load_scheme("payoff_reasoning")
    assert {kind.mistake for kind in CLAIM_KINDS} <= set(scheme.dimension("err_type").values)
    assert scheme.dimension("correct").values == ("1", "0")
    assert not scheme.assigned


def test_each_player_is_checked_from_its_own_side(plain_scenario):
    scenario = with_data(plain_scenario, matrix=MATRIX, row="initiator", column="responder")
    claim = PairPayoff(whose="you", amount=4, mine="R", theirs="B")
    for role, true in (("responder", True), ("initiator", False)):
        found = verifier_for(scenario, role).verify((QuotedClaim(claim),))
        assert found.holds is true


@pytest.mark.parametrize(
    ("payoffs", "message"),
    [
        ({}, "matrix"),
        ({"matrix": {"R": {}}}, "matrix"),
        ({"matrix": MATRIX, "row": "nobody"}, "'nobody' is no role of the scenario"),
        ({"matrix": {"R": MATRIX["R"]}}, "two choices are needed"),
        ({"matrix": MATRIX, "prices": {}}, "prices"),
    ],
)
def test_data_that_is_no_game_is_refused_by_name(plain_scenario, payoffs, message):
    with pytest.raises(UsageError, match=message) as refused:
        verifier_for(with_data(plain_scenario, **payoffs), "responder")
    assert "scenario 'used_car': data: payoffs" in refused.value.message


def test_a_scenario_without_data_is_refused(plain_scenario):
    with pytest.raises(UsageError, match="no data that a program can check"):
        verifier_for(plain_scenario, "responder")


def test_choices_have_a_meaning_in_the_story(plain_scenario):
    data = payoff_data(with_data(plain_scenario, matrix=MATRIX, choices={"R": "keep quiet"}))
    assert data.choices == {"R": "keep quiet"}


def test_a_claim_that_is_made_twice_counts_once():
    claim = QuotedClaim(GuaranteedBest(choice="R"), "R is safe")
    found = PayoffVerifier(shipped_games()["pd"], {}).verify((claim, claim))
    assert [checked.quote for checked in found.claims] == ["R is safe"]
