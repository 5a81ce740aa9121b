"""The small model is scored by the likelihood of labels, and what it learns is the labels alone."""

from __future__ import annotations

import pytest

from benchmarks.probe_items import ProbeItem, lines_of
from benchmarks.probe_smollm2 import (
    _answers,
    _batches,
    _likelihoods,
    _tuned,
    completion,
    drawn,
    prompt,
)
from outputs.audit.corpus import AuditedAnswer, AuditedDialogue

torch = pytest.importorskip("torch")

LABELS = {"veracity": ["Manner", "None", "Quality"], "goal": ["deception", "truth"]}


def item(number: int, veracity: str = "Quality", goal: str = "deception") -> ProbeItem:
    said = AuditedAnswer(3, f"No, {number}.", {"veracity": veracity}, "Is it yours?")
    within = AuditedDialogue(
        case=f"case {number}", pair="p", arm="a", scenario="s", fact="f", goal=goal, answers=(said,)
    )
    return next(lines_of(within))


def tokenizer(texts: list[str]) -> dict[str, list[list[int]]]:
    return {"input_ids": [[ord(sign) % 96 for sign in text] for text in texts]}


@pytest.fixture
def model():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=96, hidden_size=64, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=256,
        initializer_range=0.2,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).eval()


def test_a_prompt_ends_before_the_first_label_and_holds_none() -> None:
    shown = prompt(item(1), LABELS)
    assert shown == "Question: Is it yours?\nAnswer: No, 1.\nveracity:"
    assert completion(item(1), LABELS) == " Quality\ngoal: deception"


def test_answers_of_any_length_have_the_likelihood_of_their_whole_text(model) -> None:
    asked = tokenizer(["Is it so? veracity:", "Why? veracity:"])["input_ids"]
    said = tokenizer([" Quality", " No"])["input_ids"]
    with torch.no_grad():
        found = _likelihoods(model, asked, said)
        means = _likelihoods(model, asked, said, mean=True)
        for before, after, likelihood, mean in zip(asked, said, found, means, strict=True):
            scores = model(input_ids=torch.tensor([before + after])).logits[0].log_softmax(-1)
            whole = sum(scores[len(before) - 1 + n, token] for n, token in enumerate(after))
            assert float(likelihood) == pytest.approx(float(whole), abs=1e-3)
            assert float(mean) == pytest.approx(float(whole) / len(after), abs=1e-3)


def test_lines_are_answered_together_as_they_are_alone(model) -> None:
    items = [item(10**number) for number in range(7)]
    together = _answers(model, tokenizer, items, LABELS)
    assert together == [_answers(model, tokenizer, [one], LABELS)[0] for one in items]


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")  # PEFT asks for it
def test_labels_that_are_always_the_same_are_learnt_and_answered(model) -> None:
    pytest.importorskip("peft")
    learnt = [item(number, "Quality", "deception") for number in range(8)]
    [before] = _answers(model, tokenizer, [item(99)], LABELS)
    assert before != {"veracity": "Quality", "goal": "deception"}
    tuned, losses = _tuned(model, tokenizer, _batches(learnt, 120, 2), 120, LABELS)
    assert len(losses) == 120
    assert losses[-1] < losses[0] / 4
    [found] = _answers(tuned, tokenizer, [item(99)], LABELS)
    assert found == {"veracity": "Quality", "goal": "deception"}


def test_every_line_is_learnt_once_before_any_is_learnt_again() -> None:
    items = [item(number) for number in range(6)]
    lines = [one.line for batch in _batches(items, 6, 2) for one in batch]
    assert sorted(lines[:6]) == sorted(lines[6:]) == sorted(one.line for one in items)
    assert lines[:6] != lines[6:]


def test_lines_that_are_asked_are_drawn_by_their_ids_alone() -> None:
    items = [item(number) for number in range(20)]
    few = drawn(items, 5)
    assert len(few) == 5
    assert {one.key for one in few} == {one.key for one in drawn(items[::-1], 5)}
    assert {one.key for one in few} < {one.key for one in drawn(items, 8)}
