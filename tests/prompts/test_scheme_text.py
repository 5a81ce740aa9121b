"""What readers are told of a scheme: the terms that they meet, and no others."""

from __future__ import annotations

from prompts.scheme_text import reader_text
from scenarios.schemes.model import Scheme


def test_readers_are_told_the_terms_that_they_meet_however_these_are_written():
    labels = [{"id": "yes", "definition": "yes"}, {"id": "no", "definition": "no"}]
    question = 'Has the "speaker\'s point" been made?'
    scheme = Scheme.model_validate(
        {
            "id": "points",
            "title": "Points",
            "terms": {
                "speaker's point": "What a turn is for.",
                "turn": "A line.",
                "form": "Shape.",
            },
            "dimensions": [
                {"id": "made", "level": "utterance", "question": question, "labels": labels}
            ],
        }
    )
    told = reader_text(scheme, scheme.dimensions)["terms"]
    assert told == (("speaker's point", "What a turn is for."), ("turn", "A line."))
