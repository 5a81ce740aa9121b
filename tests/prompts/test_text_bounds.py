"""How long the texts of an answer may be, as endpoints are told."""

from __future__ import annotations

import dataclasses

from prompts.answer_fields import LONGEST_UTTERANCE
from prompts.environment import Templates
from prompts.prompt import Prompt, make_prompt, prompts_fingerprint
from prompts.responses import tactic_format, utterance_format


def test_every_text_has_a_bound_within_what_is_read(hipo):
    fmt = tactic_format(hipo)
    texts = [key for key, value in fmt.schema["properties"].items() if "description" in value]
    assert list(fmt.bounds) == texts
    assert fmt.bounds["utterance"] > 2 * fmt.bounds["veracity_rationale"] - 1
    assert max(fmt.bounds.values()) <= LONGEST_UTTERANCE
    longest = "x" * fmt.bounds["utterance"]
    assert utterance_format().read(f'{{"utterance": "{longest}"}}') == longest


def test_bounds_change_neither_the_schema_nor_the_fingerprint_of_the_prompts(hipo):
    templates, bounded = Templates(), tactic_format(hipo)
    unbounded = dataclasses.replace(bounded, bounds={})

    def fingerprint(fmt):
        prompt = Prompt("responder", "# Task", templates, fmt)
        return prompts_fingerprint(templates, ["rules.j2"], hipo, [prompt])

    assert fingerprint(bounded) == fingerprint(unbounded)
    assert "maxLength" not in str(bounded.schema)


def test_templates_of_the_users_own_get_room_for_what_they_may_ask_for(tmp_path):
    (tmp_path / "initiator_user.j2").write_text("# Now\nMake a speech.\n", encoding="utf-8")
    own = make_prompt("initiator", Templates(tmp_path), utterance_format())
    shipped = make_prompt("initiator", Templates(), utterance_format())
    assert shipped.answer.bounds["utterance"] < own.answer.bounds["utterance"] <= LONGEST_UTTERANCE
    # llama.cpp refuses bounds of 2,000 and more
    assert own.answer.bounds["utterance"] < 2_000
