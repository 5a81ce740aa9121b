"""Which prompts are answered together: those that change nothing in each other's answers."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.pipeline.providers.hf.asking import request, texts
from tests.tiny_model import tiny_tokenizer

torch = pytest.importorskip("torch")

from pipeline.providers.hf.beside import Batchable, beside  # noqa: E402
from pipeline.providers.hf.prefixes import can_reuse  # noqa: E402

SMALL = {
    "hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 2, "pad_token_id": 0,
    "vocab_size": 1000, "num_hidden_layers": 2,
}  # fmt: skip
LONG = {
    "rope_type": "longrope", "rope_theta": 1e4, "original_max_position_embeddings": 128,
    "short_factor": [1.0] * 8, "long_factor": [9.0] * 8,
}  # fmt: skip
NEO = {"num_heads": 2, "num_layers": 2, "attention_types": [[["global", "local"], 1]]}


def made(name, **changes):
    transformers = import_module("transformers")
    config = getattr(transformers, f"{name}Config")(**{**SMALL, **changes})
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for weights in model.parameters():
            if weights.ndim > 1:
                weights.normal_(0, 0.3)
    return model


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("name", "changes", "unequal", "reusable"),
    [
        ("Llama", {}, True, True),
        ("GPT2", {"n_embd": 32, "n_layer": 2, "n_head": 2}, True, True),
        ("Bloom", {}, True, True),
        ("Mamba", {}, True, False),
        ("GPTNeo", NEO, True, False),
        ("Mpt", {"d_model": 32, "n_layers": 2, "n_heads": 2}, True, False),
        ("Rwkv", {"attention_hidden_size": 32}, False, False),
    ],
)
def test_what_padding_does_to_a_model_is_found_out(name, changes, unequal, reusable, dtype):
    model = made(name, **changes).to(dtype)
    assert beside(model, 0) == Batchable(unequal=unequal)
    assert can_reuse(model) is reusable


def test_where_padding_changes_answers_prompts_of_one_length_are_answered_together():
    assert Batchable().first([3, 3, 4, 9], 10) == 4
    assert Batchable(unequal=False).first([3, 3, 4, 9], 10) == 2
    assert Batchable(unequal=False).first([3], 10) == 1


@pytest.mark.parametrize(
    ("lengths", "together"),
    [
        ([20, 30, 118], 3),
        ([20, 30, 119], 2),
        ([119, 119, 120, 300], 2),
        ([128, 129], 1),
        ([129, 300, 900], 3),
    ],
)
def test_prompts_on_either_side_of_the_length_where_positions_change_are_kept_apart(
    lengths, together
):
    """Answers of 10 tokens: what ends beyond 128 changes on its way, and all beside it with it."""
    assert Batchable(turned_at=128).first(lengths, 10) == together


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Rwkv", {"attention_hidden_size": 32}),
        ("GPTNeo", {**NEO, "window_size": 100}),
        ("Mpt", {"d_model": 32, "n_layers": 2, "n_heads": 2}),
        ("Phi3", {"rope_parameters": LONG, "original_max_position_embeddings": 128}),
    ],
)
async def test_answers_in_a_batch_are_those_alone(hf, tmp_path, name, changes):
    made(name, **changes).save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    scene = "You sell a car that once slid into a guardrail. " * 4
    said = ["No.", "Why?", "Why? " * 9, scene, scene + "Was it ever hit? " * 15]
    asked = [request(tmp_path, text, parameters={"max_tokens": 20}) for text in said]
    alone = [(await texts(hf, one))[0] for one in asked]
    assert len(set(alone)) > 3
    assert await texts(hf, *asked) == alone
