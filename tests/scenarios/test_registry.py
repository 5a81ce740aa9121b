from __future__ import annotations

import pytest

from scenarios.errors import InputError, UsageError
from scenarios.schemes.registry import load_scheme, scheme_names


def test_every_shipped_scheme_loads_under_its_own_name():
    assert "hipo" in scheme_names()
    assert [load_scheme(name).id for name in scheme_names()] == scheme_names()


def test_a_mistyped_name_is_answered_with_the_nearest_and_the_list():
    with pytest.raises(UsageError, match="did you mean 'hipo'") as error:
        load_scheme("hipoo")
    assert "schemes:" in error.value.hint


def test_a_scheme_of_ones_own_is_given_by_its_path(tmp_path):
    path = tmp_path / "mood.yaml"
    path.write_text(
        "id: mood\ntitle: Mood\nassigned: mood\ndimensions:\n"
        "  - {id: mood, level: dialogue, question: q, labels: "
        "[{id: up, definition: d}, {id: down, definition: d}]}\n"
    )
    assert load_scheme(str(path)).goal.values == ("up", "down")


def test_a_broken_scheme_is_told_by_line(tmp_path):
    path = tmp_path / "mood.yaml"
    path.write_text("id: mood\ntitle: Mood\nassigned: mood\ndimensions: []\n")
    with pytest.raises(InputError, match=r"mood\.yaml:4: dimensions: found an empty list"):
        load_scheme(str(path))


def test_a_path_that_does_not_exist_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_scheme(str(tmp_path / "absent.yaml"))
