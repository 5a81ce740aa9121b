"""The scaling benchmark lists and draws what it measured."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from benchmarks.scaling import DELAY_S, Point, drawing, listing, usual_in_flight

POINTS = [
    Point(1, hipo=4.5, plain=4.9),
    Point(64, hipo=290, plain=300),
    Point(1_024, hipo=1_500, plain=2_400),
    Point(700, hipo=1_450, plain=2_300, auto=True),
]


def test_the_table_says_rates_and_their_shares() -> None:
    table = listing(POINTS)
    assert "| 64 | 320 | 300 | 290 | 0.97 | 0.91 |" in table
    assert "| 700 (found by auto) | 3,500 | 2,300 | 1,450 | 0.63 | 0.41 |" in table


def test_the_drawing_has_every_line_and_no_ideal_far_above_what_is_reached() -> None:
    root = ET.fromstring(drawing(POINTS))
    texts = "".join(root.itertext())
    for name in ("ideal", "plain aiohttp loop", "hipo, compatible/", "hipo, auto"):
        assert name in texts
    assert "↑ calls per second" in texts  # nothing of it is cut off
    assert f"{1_024 / DELAY_S:,.0f}" not in texts


def test_the_usual_number_in_flight_is_seen_when_requests_are_sent() -> None:
    flights = [(0.0, 1.0), (0.1, 1.0), (0.2, 1.0), (2.0, 1.0), (2.1, 1.0)]  # 1, 2, 3, 1, 2
    assert usual_in_flight(flights) == pytest.approx(2)
