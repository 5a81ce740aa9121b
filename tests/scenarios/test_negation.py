"""Sentences that deny something, in several languages."""

import pytest

from scenarios.negation import is_negated


@pytest.mark.parametrize(
    ("language", "denied", "told"),
    [
        ("en", "We didn\u2019t sell it.", "We noted it."),
        ("en", "Nobody asked.", "Somebody asked."),
        ("ar", "لم أصطدم بالحاجز.", "اصطدمت بالحاجز."),
        ("de", "Ich bin nie gegen eine Leitplanke gerutscht.", "Im Mai bin ich gerutscht."),
        ("es", "Nunca choqué con nada.", "Choqué con el quitamiedos."),
        ("fr", "Je n'ai jamais heurté la glissière.", "J'ai heurté la glissière."),
        ("hi", "मैं दीवार से नहीं टकराया।", "मैं दीवार से टकराया।"),
        ("ja", "一度もぶつけていません。", "二年前にぶつけました。"),
        ("ko", "난 안 박았어.", "내가 박았어."),
        ("ko", "박은 적이 없어요.", "박은 적이 있어요."),
        ("ru", "Я никогда её не бил.", "Я её разбил."),
        ("zh", "我从来没有撞过护栏。", "我两年前撞过护栏。"),
        ("xx", "It never slid.", "It slid."),
    ],
)
def test_a_denial_is_told_from_what_is_said(language, denied, told):
    assert is_negated(denied, language)
    assert not is_negated(told, language)
