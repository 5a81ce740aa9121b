"""Numbers in Chinese signs are read as people say them."""

from __future__ import annotations

import pytest

from scenarios.han_numbers import han_numbers


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("二十一天里有十天", {"21", "10"}),
        ("十五个，三百零五个，一百八", {"15", "305", "180"}),
        ("两万五", {"25000"}),
        ("一亿两千万", {"120000000"}),
        ("一万亿", {"1000000000000"}),
        ("3万块或3.5万元", {"30000", "35000"}),
        ("1,500万，2019，300万", {"15000000", "3000000"}),
        ("二〇一九年", {"2019"}),
        ("十分钟", {"10"}),
        ("八位，两个人，第三次", {"8"}),
    ],
)
def test_a_number_is_told_in_digits(text, told):
    assert han_numbers(text) == told


@pytest.mark.parametrize(
    "text",
    ["十分抱歉", "万一", "千万别去", "星期五", "周六", "七八个", "五六十人", "十几个", "几十万"],
)
def test_signs_that_tell_no_one_number_tell_none(text):
    assert han_numbers(text) == frozenset()


@pytest.mark.parametrize("signs", ["三百", "1", "1.1", "1,111,"])
def test_any_number_of_signs_is_read_at_once(signs):
    assert han_numbers(signs * 50_000) == frozenset()
