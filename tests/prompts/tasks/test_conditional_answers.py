"""Answers to questions that are asked only beside certain other labels."""

from __future__ import annotations

import pytest

from prompts.answer_fields import Findings
from prompts.tasks.answers import LabelForm
from scenarios.schemes.registry import load_scheme

SCHEME = load_scheme("face_acts")


@pytest.mark.parametrize("face_act", ["spos-", "sneg+", "other"])
def test_null_is_an_answer_where_no_label_goes_with_what_the_speaker_did(face_act: str) -> None:
    asked = [SCHEME.dimension(name).limited_to("persuader") for name in ("face_act", "intention")]
    findings = Findings()
    found = LabelForm(tuple(asked)).build({"face_act": face_act, "intention": None}, findings)
    assert [(label.dimension, label.value) for label in found] == [("face_act", face_act)]
    assert findings.reasons == []
