"""Which outages a run waits through, and for how long in all."""

from pipeline.stopping.awaited import AwaitedEndpoints, Wait


def test_time_in_which_two_endpoints_are_away_counts_once():
    now = [100.0]
    awaited = AwaitedEndpoints(lambda: now[0])
    assert (awaited.longest, awaited.waited_s) == (None, 0.0)
    awaited.begin("one", 5.0)
    now[0] = 110.0
    awaited.begin("two", 0.0)
    now[0] = 120.0
    assert awaited.longest == Wait("one", 25.0)
    awaited.end("one")
    assert awaited.longest == Wait("two", 10.0)
    now[0] = 130.0
    awaited.end("two")
    now[0] = 150.0
    assert (awaited.longest, awaited.waited_s, awaited.over) == (None, 35.0, 2)


def test_the_end_of_what_was_never_told_is_no_end():
    awaited = AwaitedEndpoints()
    awaited.end("one")
    assert awaited.over == 0
