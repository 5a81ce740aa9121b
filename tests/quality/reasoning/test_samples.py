from pipeline.reasoning.game import shipped_games
from tests.quality.reasoning.logs import RIGHT, WRONG, attempt, corrected, log_text, right, sample


def test_a_log_says_attempts_choices_and_verdicts():
    found = sample(corrected())
    assert found.cells() == {
        "file": "log_pd_1.txt",
        "game": "pd",
        "attempts": "2",
        "orig_choice": "R",
        "final_choice": "B",
        "orig_cor_pred": "0",
        "fin_cor_pred": "1",
        "failed_queries": f"0#{WRONG}",
    }
    assert not found.oddities


def test_the_game_is_what_forms_say_before_the_name():
    found = sample(right(), "mine_sh_3.txt", told=["PD"])
    assert (found.game_id, found.oddities) == ("pd", [])
    assert sample(right(), "mine_sh_3.txt").game_id == "sh"


def test_payoffs_in_the_name_are_taken_where_the_game_has_others():
    claim = "finally(goal(them, 9), do(choice(you, 'B'), do(choice(them, 'R'), s0)))."
    text = log_text(attempt(0, "R", claim, failed=[]))
    found = sample(text, "model_pd_p1_2_9_0_4_7_1.txt")
    assert found.game.payoffs["R"]["B"] == (9, 0)
    assert [oddity.code for oddity in found.oddities] == ["own_payoffs"]
    assert not found.verdicts[0].differs


def test_without_a_game_the_verdicts_of_the_log_count():
    found = sample(corrected(), "log_1.txt")
    assert [verdict.supported for verdict in found.verdicts] == [False, True]
    assert [oddity.code for oddity in found.oddities] == ["unknown_game"]


def test_another_verdict_in_the_log_than_the_solver_has_is_told():
    text = log_text(attempt(0, "R", RIGHT, WRONG, failed=[RIGHT]))
    found = sample(text)
    assert found.verdicts[0].differs
    assert [oddity.code for oddity in found.oddities] == ["other_verdict"]


def test_an_attempt_without_a_verdict_is_solved_where_all_its_claims_can_be_read():
    bare = attempt(0, "R", RIGHT)
    solved = sample(log_text(_unjudged(bare)))
    assert solved.predicted("original") is True
    wrong = sample(log_text(_unjudged(attempt(0, "R", "nonsense.", WRONG))))
    assert wrong.predicted("original") is False
    open_ = sample(log_text(_unjudged(attempt(0, "R", "nonsense.", RIGHT))))
    assert open_.predicted("original") is None
    assert [oddity.code for oddity in open_.oddities] == ["log", "no_verdict"]


def _unjudged(made):
    return type(made)(made.number, made.response, made.predicates)


def test_a_game_that_the_user_names_counts_for_every_log():
    only = ("sh", shipped_games()["sh"])
    assert sample(right(), "log_pd_1.txt", only=only).game_id == "sh"


def test_a_log_without_attempts_is_no_sample():
    assert sample("nothing here") is None


def test_a_log_without_a_choice_is_told():
    found = sample(log_text(attempt(0, "X", RIGHT)))
    assert [oddity.code for oddity in found.oddities] == ["no_choice"]
