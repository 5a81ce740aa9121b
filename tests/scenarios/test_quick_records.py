from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace

import pytest

from scenarios.quick_records import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    names: tuple[str, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("below 0")


@quickly_made
@dataclass(frozen=True, slots=True)
class Named(Point):
    name: str = field(kw_only=True)


def test_a_record_is_made_with_its_defaults_and_compared_by_its_fields():
    assert Point(1) == Point(1, 2, ()) == Point(x=1, y=2, names=())
    assert Point(1) != Point(2)
    assert {Point(1): "a"}[Point(1)] == "a"
    assert repr(Point(1)) == "Point(x=1, y=2, names=())"


def test_a_record_that_inherits_has_the_fields_of_both():
    named = Named(1, name="here")
    assert (named.x, named.y, named.name) == (1, 2, "here")
    assert replace(named, y=5) == Named(1, 5, name="here")


def test_what_a_record_checks_when_it_is_made_is_checked():
    with pytest.raises(ValueError, match="below 0"):
        Point(-1)
    with pytest.raises(TypeError):
        Point()


def test_a_record_travels_to_other_processes():
    assert pickle.loads(pickle.dumps(Named(1, name="here"))) == Named(1, name="here")
