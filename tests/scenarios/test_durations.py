import pytest

from scenarios.durations import in_words, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("90", 90),
        ("90s", 90),
        ("1.5h", 5400),
        ("1h30m", 5400),
        ("1 h 30 min", 5400),
        ("10 minutes", 600),
        ("2d", 172_800),
        (" 5m ", 300),
    ],
)
def test_a_time_is_read_as_people_write_it(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "text", ["", " ", "soon", "-1h", "1x", "1h 30", "30 1h", "1e3", "h", "1hm"]
)
def test_what_is_no_time_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="1h, 30m or 90s"):
        seconds_of(text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.25, "0.25 s"),
        (15, "15 s"),
        (59.7, "1 min"),
        (310, "5 min 10 s"),
        (3600, "60 min"),
        (7200, "2 h"),
        (9000, "2 h 30 min"),
    ],
)
def test_a_time_is_told_in_at_most_two_units(seconds, words):
    assert in_words(seconds) == words
