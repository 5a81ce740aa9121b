"""What is said where a run has nothing for people to look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.review.reviewing import ReviewOptions, open_review
from quality.web.access import Access
from scenarios.errors import UsageError
from tests.factories import make_run


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (ReviewOptions(), "--all reviews every dialogue"),
        (ReviewOptions(everything=True), "generate some first"),
    ],
)
def test_a_run_without_dialogues_is_told_with_what_would_help(
    tmp_path: Path, options: ReviewOptions, hint: str
) -> None:
    make_run(tmp_path / "run", [])

    def announced(*_: object) -> None:
        raise AssertionError("nobody is let in")

    with pytest.raises(UsageError) as caught:
        open_review(tmp_path / "run", options, lambda _: Access(), announced)
    assert hint in str(caught.value.hint)
