from decimal import Decimal

import pytest
from hypothesis import given

from pipeline.reasoning.game import (
    games_as_yaml,
    games_of,
    read_game,
    shipped_games,
    symmetric_game,
)
from scenarios.errors import UsageError
from tests.pipeline.reasoning.games import games, unhurried


def test_the_three_games_ship_with_the_payoffs_of_the_protocol():
    cells = {
        name: [game.payoffs[mine][theirs] for mine, theirs in game.pairs()]
        for name, game in shipped_games().items()
    }
    assert cells == {
        "pd": [(1, 1), (5, 0), (0, 5), (3, 3)],
        "sh": [(1, 1), (3, 0), (0, 3), (5, 5)],
        "hd": [(0, 0), (5, 1), (1, 5), (3, 3)],
    }


def test_four_numbers_make_a_symmetric_game():
    own = [Decimal(n) for n in (1, 5, 0, 3)]
    assert symmetric_game(own, ("R", "B")).payoffs == shipped_games()["pd"].payoffs


@pytest.mark.parametrize(
    ("payoffs", "message"),
    [
        ({"R": {"R": [1, 1], "B": [5, 0]}}, r"two choices are needed, found 1 \(R\)"),
        ({"R": {"R": [1, 1], "B": [5, 0]}, "B": {"R": [0, 5]}}, "B: two choices are needed"),
        ({"R": {"R": [1, 1], "B": [5, 0]}, "B": {"L": [0, 5], "B": [1, 1]}}, "the rows differ"),
        ({"R": {"R": [1], "B": [5, 0]}, "B": {"R": [0, 5], "B": [1, 1]}}, r"payoffs\.R\.R"),
        ({"R": {"R": [1, "x"], "B": [5, 0]}, "B": {"R": [0, 5], "B": [1, 1]}}, "valid decimal"),
        ({"go on": {}, "B": {}}, "payoffs"),
        ([1, 5, 0, 3], "payoffs"),
        (None, "payoffs"),
    ],
)
def test_what_is_no_matrix_is_refused_with_the_form_it_should_have(payoffs, message):
    with pytest.raises(UsageError, match=message) as refused:
        read_game(payoffs, "mine.yaml: data.payoffs")
    assert "mine.yaml: data.payoffs" in refused.value.message
    assert "2x2 matrix" in refused.value.hint


@unhurried
@given(games())
def test_games_that_are_written_to_a_file_are_read_again(tmp_path_factory, game):
    path = tmp_path_factory.mktemp("games") / "games.yaml"
    path.write_text(games_as_yaml({"mine": game}))
    assert games_of(path)["mine"].payoffs == game.payoffs
