"""A vague answer is an answer of the kind that was asked for."""

from __future__ import annotations

import pytest

from pipeline.offline.grammar import listed
from pipeline.offline.lexicon import load
from pipeline.offline.question_form import question_form
from pipeline.offline.wording import sentence
from pipeline.offline_judge.truth import MANNER, Matter, treatment_of
from scenarios.catalogue import Catalogue
from scenarios.lines.library import spoken_stage_lines

ASKED = {
    "Who did that paint for you?": "who",
    "And if one of these partnerships goes wrong, who pays?": "who",
    "Look at me a minute. When was the last one?": "when",
    "How long do you hang on to all that?": "when",
    "When it comes up in that courtroom, clean or not, what'll you say?": "what",
    "Just so I've got it right, how many nights a week do you sleep there?": "amount",
    "Now that morning. Where were you between six and seven?": "where",
    "If there's been smoke up there, how come we've never had an alarm?": "why",
    "What did you need a new code for, all of a sudden?": "why",
    "What would you tell her to look out for?": "what",
    "How's the battery coming along these days?": "how",
    "Could you tell me who it was?": "who",
    "Is there anything you'd rather I heard from you than from a mechanic?": "any",
    "There were four stubs in the flowerpot. Are you smoking again?": "whether",
    "Am I the only one who's asking about this?": "whether",
    "How fast is that list moving, really?": "how",
    "The other parents ask. What about that fire should they know?": "what",
}


@pytest.mark.parametrize(("question", "form"), ASKED.items())
def test_the_form_of_a_question_shows_what_it_asks_for(question, form):
    assert question_form(question) == form


def test_most_forms_are_asked_for_in_the_library_and_each_has_vague_answers():
    forms = set()
    for entry in Catalogue.load(environment={}).entries.values():
        lines = spoken_stage_lines(entry.template)
        forms |= {question_form(line.text) for line in lines.initiator} if lines else set()
        forms |= {question_form(fact.angle) for fact in entry.scenario.facts if fact.angle}
    assert forms == set(load("vague"))


def test_a_vague_clause_is_read_as_an_answer_too_vague_to_check():
    """'I'm willing to call it one of those things', to 'who pays?'"""
    for question, form in ASKED.items():
        matter = Matter("The owner waters the milk.", question=question, people="owner buyer")
        for clause in listed("vague", form):
            line = sentence(clause.replace("{issue}", "that morning"))
            assert treatment_of(line, matter).label == MANNER, (question, line)
