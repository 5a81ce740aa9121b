"""Who goes first where an endpoint has not answered yet, told by what happened and when."""

from tests.pipeline.watched_endpoint import RULES, Watched


def test_the_first_call_goes_alone_and_its_answer_lets_the_others_in():
    w = Watched()
    first = w.admit()
    assert first is not None
    assert w.admit() is None
    w.settle(first, "answered")
    assert w.admit() is not None
    assert w.admit() is not None


def test_after_a_first_call_that_failed_another_one_goes_alone():
    w = Watched()
    w.settle(w.admit(), "failed")
    second = w.admit()
    assert second is not None
    assert w.admit() is None


def test_nobody_follows_a_first_call_that_was_refused_before_the_run_could_stop():
    w = Watched()
    w.settle(w.admit(), "refused")
    assert w.admit() is None
    assert w.it.next_change(w.now) == RULES.after_refusal_s
    assert w.after(RULES.after_refusal_s).admit() is not None


def test_a_first_call_that_was_refused_goes_again_at_once_in_another_form():
    w = Watched()
    w.settle(w.admit(), "refused")
    again = w.admit(changed=True)
    assert again is not None
    assert w.admit(changed=True) is None, "it goes alone, too"
    w.settle(again, "refused")
    assert w.admit() is None


def test_a_first_call_that_was_not_taken_as_it_is_goes_again_before_others_do():
    w = Watched()
    w.settle(w.admit(), "failed", 400)
    assert w.admit() is None
    assert w.it.next_change(w.now) == RULES.in_another_form_s
    again = w.admit(changed=True)
    assert again is not None
    w.settle(again, "answered")
    assert w.admit() is not None


def test_after_a_first_call_that_has_no_other_form_another_one_goes():
    w = Watched()
    w.settle(w.admit(), "failed", 400)
    assert w.after(RULES.in_another_form_s).admit() is not None


def test_until_anything_was_answered_calls_of_every_role_wait_for_one_another():
    w = Watched()
    first = w.admit("judge/a")
    assert w.admit("judge/b") is None
    w.settle(first, "answered")
    assert w.admit("judge/b") is not None
    assert w.admit("judge/b") is None, "the first prompt of a role is let through alone"
    assert w.admit("judge/a") is not None


def test_a_first_call_that_takes_long_no_longer_holds_the_others_back():
    w = Watched()
    w.admit()
    assert w.it.next_change(0.0) == RULES.alone_s
    w.after(RULES.alone_s).look()
    assert w.admit() is not None
    assert w.it.next_change(w.now) is None


def test_a_call_that_was_not_sent_after_all_makes_way():
    w = Watched()
    w.it.give_back(w.admit(), w.now)
    assert w.admit() is not None


def test_an_admission_says_whether_its_role_was_answered_in_this_process_or_before():
    w = Watched(answered_before=lambda role: role == "responder")
    first = w.admit("responder")
    assert first.role_answered
    w.settle(first, "answered")
    second = w.admit("initiator")
    assert not second.role_answered
    w.settle(second, "answered")
    assert w.admit("initiator").role_answered
