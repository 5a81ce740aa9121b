"""The rules say what is to be believed, ask what is to be found out, and own up to nothing."""

from __future__ import annotations

import json
import re

from pipeline.offline.engine import answer
from pipeline.offline.reading import read_prompt

DECEPTION = "deception"
COVER = "A shipyard in the next bay replaced the whole keel."
ANGLE = "Who's done the work below the waterline?"
_OWNING_UP = re.compile(
    r"holding (?:something )?back|I know (?:something|one or two)|keep(?:ing)? what I know|"
    r"to myself|more to be said|not told you all|left out",
    re.IGNORECASE,
)


def ask(messages, seed=1):
    return json.loads(answer(messages, seed))


def standing(messages, cover=COVER):
    (system, text), (user, asked) = messages
    stand = f"# Where you stand\nYou want it believed that: {cover}\n\n# Conversation so far"
    return [(system, text), (user, asked.replace("# Conversation so far", stand))]


def to_find_out(messages, angle=ANGLE):
    (system, text), (user, asked) = messages
    section = (
        f"# To find out\nA question you want answered sooner or later: {angle}\n\n"
        "# Conversation so far"
    )
    return [(system, text), (user, asked.replace("# Conversation so far", section))]


def test_a_lie_says_what_is_to_be_believed_instead_of_the_fact(prompts):
    wanted = (("veracity", "Quality"),)
    messages = standing(prompts.responder("boat", DECEPTION, wanted))
    said = [ask(messages, seed)["utterance"].lower() for seed in range(40)]
    assert sum("a shipyard in the next bay replaced the whole keel" in text for text in said) > 10


def test_a_cover_about_the_speaker_is_said_in_the_first_person(prompts):
    wanted = (("veracity", "Quality"),)
    cover = "The owner has never sailed near the reef."
    messages = standing(prompts.responder("boat", DECEPTION, wanted), cover)
    said = " ".join(ask(messages, seed)["utterance"] for seed in range(40))
    assert re.search(r"I(?:'ve| have) never sailed near the reef", said)
    assert "The owner has" not in said


def test_a_deceiver_never_owns_up_to_keeping_something_back(prompts):
    for scene in prompts.scenes:
        for act in prompts.hipo["illocutionary"]:
            wanted = (("veracity", "None"), ("illocutionary", act))
            for seed in range(25):
                text = ask(prompts.responder(scene, DECEPTION, wanted), seed)["utterance"]
                assert not _OWNING_UP.search(text), text


def test_the_question_to_be_found_out_is_asked_once(prompts):
    scene = prompts.scenes["boat"]
    for seed in range(10):
        history = [("INITIATOR", scene["question"]), ("RESPONDER", scene["statement"])]
        for _ in range(4):
            messages = to_find_out(prompts.initiator("boat", history=tuple(history)))
            history.append(("INITIATOR", ask(messages, seed)["utterance"]))
            history.append(("RESPONDER", f"That was so {len(history)} years ago."))
        assert sum(text == ANGLE for _, text in history) == 1


def test_a_plan_names_the_labels_that_follow(prompts):
    skeleton = (
        '{\n  "plan": "<text>",\n  "utterance": "<text>",\n  "goal": "<one of: deception | x>",\n'
        '  "veracity_rationale": "<text>",\n  "veracity": "<one of: Quantity | Manner>"\n}'
    )
    found = ask(prompts.responder("boat", DECEPTION, answer=skeleton))
    assert next(iter(found)) == "plan"
    assert found["plan"] == f"veracity {found['veracity']}"


def test_lines_are_read_whoever_the_brackets_name(prompts):
    history = (
        ("INITIATOR (buyer (of boats))", "Was it (the hull): hit?"),
        ("RESPONDER (you)", "Never once."),
    )
    assert read_prompt(prompts.responder("boat", DECEPTION, history=history)).spoken == (
        ("INITIATOR", "Was it (the hull): hit?"),
        ("RESPONDER", "Never once."),
    )


def test_a_line_that_was_said_does_not_fit(prompts):
    skeleton = (
        '{\n  "veracity_reason": "<text>",\n  "veracity_carried": <true or false>,\n'
        '  "fit_reason": "<text>",\n  "fit": <true or false>\n}'
    )
    history = (("INITIATOR (buyer)", "Was it hit?"), ("RESPONDER (you)", "Never once."))
    for text, fits in (("Never once.", False), ("Not in my time.", True)):
        draft = prompts.draft(text, {"veracity": "Quality"})
        asked = prompts.responder("boat", DECEPTION, history=history, draft=draft, answer=skeleton)
        found = ask(asked)
        assert found["fit"] is fits
        assert found["fit_reason"]
