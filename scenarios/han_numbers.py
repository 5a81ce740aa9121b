"""Numbers that are written in Chinese signs: 三百, 二〇一九, 3万."""

from __future__ import annotations

import re

_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "两": 2, "兩": 2,
}  # fmt: skip
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8}
_SIGNS = "".join(_DIGITS)
_UNITS = "".join([*_SMALL, *_LARGE])
_FIGURES = r"(?:\d{1,3}(?:,\d{3}){1,3}+|\d++)"
_NUMBER = re.compile(
    rf"(?<![期周週拜几幾数數])(?:(?<!\d)(?P<figures>{_FIGURES}(?:\.\d++)?)(?P<unit>[{_UNITS}]++)"
    rf"|[{_SIGNS}十][{_SIGNS}{_UNITS}]*+)(?![几幾])"
)
"""A day of the week has a number in its name, and tells none.

Figures are looked at once, however many stand in a row: their number is a model's.
"""
_VERY = re.compile("十分(?![钟鐘之])")
_LONGEST = 24


def han_numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text that Chinese signs have a part in, in digits: ``三百`` is ``300``.

    Small ones (below five) count things in any phrase and are left out, as is what tells no one
    number: 七八个 (seven or eight).
    """
    found = set()
    for match in _NUMBER.finditer(_VERY.sub("", text)):
        if len(match[0]) > _LONGEST:
            continue
        value = _value_of(match)
        if value is not None and value >= 5:
            found.add(str(value))
    return frozenset(found)


def _value_of(match: re.Match[str]) -> int | None:
    if match["figures"] is None:
        return _read(match[0])
    unit = 1
    for sign in match["unit"]:
        unit *= (_SMALL | _LARGE)[sign]
    return round(float(match["figures"].replace(",", "")) * unit)


def _read(signs: str) -> int | None:
    """Return what signs say: by place where there are digits alone, else by their units."""
    if all(sign in _DIGITS for sign in signs):
        if len(signs) == 2 and "零" not in signs and "〇" not in signs:
            return None
        return int("".join(str(_DIGITS[sign]) for sign in signs))
    total = part = 0
    digit: int | None = None
    last = 1
    for before, sign in zip(" " + signs, signs, strict=False):
        if sign in _DIGITS:
            if digit is not None and before not in "零〇":
                return None
            digit = _DIGITS[sign]
            last = 1 if before in "零〇" else last
        elif sign in _SMALL:
            part += (1 if digit is None else digit) * _SMALL[sign]
            digit, last = None, _SMALL[sign]
        else:
            part, unit = part + (digit or 0), _LARGE[sign]
            total = (total + part) * unit if unit > total else total + part * unit
            part, digit, last = 0, None, unit
    # 两万五 is 25,000, and 三百零五 is 305.
    return total + part + (digit or 0) * (last // 10 if last > 10 else 1)
