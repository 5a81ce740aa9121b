"""What is loaded, and when: adapters, GGUF files, broken folders, odd tokenizers."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from importlib import import_module

import pytest

from pipeline.providers.errors import BadRequest
from pipeline.providers.registry import build_provider, parse_model
from scenarios.errors import UsageError
from tests.pipeline.providers.hf.asking import MARKS, request, texts
from tests.tiny_model import save_tiny_adapter, save_tiny_gguf, save_tiny_model, tiny_tokenizer

pytestmark = MARKS


async def test_an_adapter_brings_its_base_and_changes_what_it_says(hf, model, tmp_path):
    adapter = save_tiny_adapter(tmp_path / "tuned", model)
    plain, tuned = await texts(hf, request(model), request(adapter))
    assert plain != tuned


async def test_an_adapter_answers_as_it_does_merged_by_hand(hf, model, tmp_path):
    adapter = save_tiny_adapter(tmp_path / "tuned", model)
    base = import_module("transformers").AutoModelForCausalLM.from_pretrained(model)
    merged = import_module("peft").PeftModel.from_pretrained(base, adapter)
    merged.merge_and_unload().save_pretrained(tmp_path / "merged")
    tiny_tokenizer().save_pretrained(tmp_path / "merged")
    assert len(set(await texts(hf, request(adapter), request(tmp_path / "merged")))) == 1


@pytest.mark.filterwarnings("ignore:Position ids are not supported:UserWarning")
@pytest.mark.parametrize("kind", ["PromptTuning", "PrefixTuning"])
async def test_a_beginning_that_was_learnt_answers_in_a_batch_as_alone(hf, model, tmp_path, kind):
    peft, base = import_module("peft"), import_module("transformers").AutoModelForCausalLM
    learnt = getattr(peft, f"{kind}Config")(task_type="CAUSAL_LM", num_virtual_tokens=4)
    import_module("torch").manual_seed(1)
    peft.get_peft_model(base.from_pretrained(model), learnt).save_pretrained(tmp_path)
    asked = [request(tmp_path, "Why? " * i) for i in range(1, 4)]
    alone = [(await texts(hf, one))[0] for one in asked]
    assert await texts(hf, *asked) == alone
    assert alone != await texts(hf, *(request(model, "Why? " * i) for i in range(1, 4)))


def test_peft_finds_keys_and_values_whatever_transformers_calls_them(monkeypatch):
    loading = import_module("pipeline.providers.hf.loading")
    monkeypatch.setattr(loading, "CACHE", "cache")
    monkeypatch.setattr(loading, "CACHE_OF_PEFT", "past_key_values")

    class Tuned:
        """Puts what was learnt before a prompt, as PEFT does, where nothing is known of it yet."""

        def base_model_prepare_inputs_for_generation(self, **kwargs):
            return {"input_ids": [1], **kwargs}

        def prepare_inputs_for_generation(self, **kwargs):
            inputs = self.base_model_prepare_inputs_for_generation(**kwargs)
            return {**inputs, "past_key_values": inputs.get("past_key_values") or "learnt"}

    tuned = Tuned()
    loading._rename_cache(tuned)
    assert tuned.prepare_inputs_for_generation(cache=None)["cache"] == "learnt"
    later = tuned.prepare_inputs_for_generation(cache="grown")
    assert later == {"input_ids": [1], "cache": "grown"}


async def test_a_gguf_file_is_read_once_and_answers_as_the_model_it_was_made_of(
    hf, model, tmp_path, monkeypatch
):
    reader = pytest.importorskip("gguf").GGUFReader
    file, read = save_tiny_gguf(tmp_path / "gguf" / "tiny.gguf", model), []
    take_apart = reader._build_fields
    monkeypatch.setattr(
        reader, "_build_fields", lambda self, *at: (read.append(at), take_apart(self, *at))[1]
    )
    said = await texts(hf, request(file), request(file.parent), request(model))
    assert len(set(said)) == 1
    assert len(read) == 2, "once for the file, once for its folder"


async def broken(folder, damage):
    hf = build_provider(parse_model("hf/any"), max_concurrency=8)
    damage(folder)
    try:
        with pytest.raises(UsageError) as told:
            await hf.send(request(folder), 60)
    finally:
        await hf.close()
    return told.value


async def test_broken_weights_are_one_clear_message(tmp_path):
    folder = save_tiny_model(tmp_path / "m")
    error = await broken(folder, lambda _: (folder / "model.safetensors").write_bytes(b"\0" * 99))
    assert f"hf/{folder} cannot be loaded" in error.message


async def test_weights_that_are_missing_are_not_made_up(tmp_path):
    folder = save_tiny_model(tmp_path / "m")
    stored, file = import_module("safetensors.torch"), folder / "model.safetensors"
    weights = stored.load_file(file)
    del weights["model.layers.0.mlp.up_proj.weight"]
    error = await broken(folder, lambda _: stored.save_file(weights, file, {"format": "pt"}))
    assert "1 of its weights are missing or misshapen: model.layers.0.mlp.up_proj" in error.message


async def test_a_broken_adapter_is_one_clear_message(model, tmp_path):
    folder = save_tiny_adapter(tmp_path / "tuned", model)
    file = folder / "adapter_model.safetensors"
    error = await broken(folder, lambda _: file.write_bytes(file.read_bytes()[:100]))
    assert "cannot be loaded" in error.message


async def test_an_adapter_without_some_of_its_weights_is_refused(model, tmp_path):
    stored = import_module("safetensors.torch")
    folder = save_tiny_adapter(tmp_path / "tuned", model)
    file = folder / "adapter_model.safetensors"
    weights = stored.load_file(file)
    weights.pop(min(weights))
    error = await broken(folder, lambda _: stored.save_file(weights, file))
    assert "lacks weights that its adapter_config.json speaks of" in error.message


async def test_a_device_that_is_not_there_is_told(hf, model):
    with pytest.raises(UsageError, match="there is no cuda:7 device here"):
        await hf.send(request(model, parameters={"extra": {"device": "cuda:7"}}), 60)


async def test_a_model_is_loaded_once_and_what_is_wrong_with_it_is_found_once(
    hf, tmp_path, monkeypatch
):
    loading = import_module("pipeline.providers.hf.loading")
    loads = []
    load = loading.load_model

    def counted(name, settings):
        loads.append(name)
        return load(name, settings)

    monkeypatch.setattr(loading, "load_model", counted)
    good, bad = save_tiny_model(tmp_path / "good"), tmp_path / "bad"
    for _ in range(2):
        await texts(hf, request(good), request(good, "Else?"))
        with pytest.raises(UsageError, match="bad"):
            await hf.send(request(bad), 60)
    assert sorted(loads) == [str(bad), str(good)]


async def test_the_memory_of_a_model_is_given_back_at_the_end(model):
    hf = build_provider(parse_model("hf/any"), max_concurrency=8)
    await hf.send(request(model), 60)
    (opened,) = hf._engines.values()
    weights = weakref.ref(opened._loaded.model)
    del opened
    await hf.close()
    gc.collect()
    assert weights() is None


async def test_a_model_that_was_never_taught_to_chat_is_asked_plainly(hf, tmp_path, caplog):
    folder = save_tiny_model(tmp_path / "base", chat_template=None)
    plain = request(folder, parameters={"extra": {"chat_template": "plain"}})
    assert len(set(await texts(hf, request(folder), plain))) == 1
    assert f"hf/{folder} has no chat template" in caplog.text


async def test_a_padding_token_that_the_model_does_not_know_is_never_given_to_it(
    hf, model, tmp_path
):
    folder = save_tiny_model(tmp_path / "padded")
    plain = await texts(hf, request(model, "a"), request(model, "Why? " * 9))
    tokenizer = tiny_tokenizer()
    tokenizer.add_special_tokens({"pad_token": "<|new|>"})
    tokenizer.save_pretrained(folder)
    assert tokenizer.pad_token_id == len(tiny_tokenizer())
    assert await texts(hf, request(folder, "a"), request(folder, "Why? " * 9)) == plain


async def test_a_prompt_with_a_token_that_the_model_does_not_know_fails_alone(hf, tmp_path):
    folder = save_tiny_model(tmp_path / "taught")
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens(["<|new|>"])
    tokenizer.save_pretrained(folder)
    known, unknown = await asyncio.gather(
        *(hf.send(request(folder, text), 60) for text in ("Why?", "Why <|new|>?")),
        return_exceptions=True,
    )
    assert known.choices[0].finish == "length"
    assert isinstance(unknown, BadRequest)
    assert "token 1,000, and the model knows 1,000" in str(unknown)


async def test_nothing_heavy_is_imported_before_a_model_is_asked():
    program = (
        "import sys; from pipeline.providers.registry import build_provider, parse_model;"
        "build_provider(parse_model('hf/any')); print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode().strip() == "[]"
