"""Sentences that deny something, in several languages."""

import pytest

from scenarios.negation import is_negated


@pytest.mark.parametrize(
    ("language", "denied", "told"),
    [
        ("en", "We didn\u2019t sell it.", "We noted it."),
        ("en", "Nobody asked.", "Somebody asked."),
        ("ar", "لم أصطدم بالحاجز.", "اصطدمت بالحاجز."),
        ("ar", "ولم يطلب من أحد.", "طلب من أحدهم."),
        ("de", "Ich bin nie gegen eine Leitplanke gerutscht.", "Im Mai bin ich gerutscht."),
        ("es", "Nunca choqué con nada.", "Choqué con el quitamiedos."),
        ("fr", "Je n'ai jamais heurté la glissière.", "J'ai heurté la glissière."),
        ("hi", "मैं दीवार से नहीं टकराया।", "मैं दीवार से टकराया।"),
        ("ja", "一度もぶつけていません。", "二年前にぶつけました。"),
        ("ko", "난 안 박았어.", "내가 박았어."),
        ("ja", "すみません、行っていません。", "すみません、猫を入れたのは私かもしれません。"),
        ("ko", "박은 적이 없어요.", "박은 적이 있어요."),
        ("ko", "난 몰라요, 아니에요.", "제가 잘못했어요."),
        ("ru", "Я никогда её не бил.", "Я её разбил."),
        ("zh", "我从来没有撞过护栏。", "我两年前撞过护栏。"),
        ("zh", "对不起，那十天我没在湖边。", "对不起，那十天我在湖边。"),
        ("zh", "不，猫不是我放的。", "不错，猫是我放的。"),
        ("zh", "不过我没请过客。", "不瞒您说，我请过客，没想到来了八位。"),
        ("zh", "我不知道有没有人。", "您是不是请了客人？"),
        ("xx", "It never slid.", "It slid."),
    ],
)
def test_a_denial_is_told_from_what_is_said(language, denied, told):
    assert is_negated(denied, language)
    assert not is_negated(told, language)
