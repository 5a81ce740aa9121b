"""A small random Llama with a tokenizer of its own: made in a second, and it can be asked."""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from pathlib import Path

import prompts

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no test asks the hub

CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_SPECIAL = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]


@cache
def _bytes_and_words():
    """Return pairs of letters and words of the shipped prompts, learnt as tokenizers learn them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: PLC0415

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1000,
        special_tokens=_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = sorted((Path(prompts.__path__[0]) / "templates").glob("*.j2"))
    tokenizer.train_from_iterator([text.read_text("utf-8") for text in texts], trainer)
    return tokenizer


def tiny_tokenizer(*, chat_template: str | None = CHAT_TEMPLATE):
    """Return a tokenizer of a thousand bytes, pairs and words."""
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    fast = PreTrainedTokenizerFast(
        tokenizer_object=_bytes_and_words(), pad_token=_SPECIAL[0], eos_token=_SPECIAL[1]
    )
    fast.chat_template = chat_template
    return fast


def save_tiny_model(
    folder: Path,
    *,
    seed: int = 0,
    window: int = 4096,
    chat_template: str | None = CHAT_TEMPLATE,
    brief: bool = False,
    tokenizer=None,
) -> Path:
    """Write a random Llama of some 90,000 weights with its tokenizer, and return the folder.

    A ``brief`` one likes quotation marks, so that the texts of its JSON are short. Another
    ``tokenizer`` than the tiny one makes it larger.
    """
    import torch  # noqa: PLC0415
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415

    tokenizer = tokenizer or tiny_tokenizer(chat_template=chat_template)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=window,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        initializer_range=0.5,  # wide enough that the likeliest token is well ahead of the others
    )
    model = LlamaForCausalLM(config)
    if brief:  # one number of every state is the same, and speaks for the mark alone
        with torch.no_grad():
            model.model.embed_tokens.weight[:, 0] = 400.0
            model.lm_head.weight[:, 0] = 0.0
            model.lm_head.weight[tokenizer.convert_tokens_to_ids('"'), 0] = 0.8
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_tiny_adapter(folder: Path, base: Path, *, seed: int = 1) -> Path:
    """Write a LoRA adapter of a tiny model that changes what it says, and return the folder."""
    import torch  # noqa: PLC0415
    from peft import LoraConfig, get_peft_model  # noqa: PLC0415
    from transformers import AutoModelForCausalLM  # noqa: PLC0415

    model = AutoModelForCausalLM.from_pretrained(base)
    torch.manual_seed(seed)
    config = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    get_peft_model(model, config).save_pretrained(folder)
    return folder


def save_tiny_gguf(file: Path, model: Path) -> Path:
    """Write a tiny model as a GGUF file, its weights as they are, and return the file."""
    import gguf  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    from safetensors.numpy import load_file  # noqa: PLC0415
    from transformers import AutoConfig  # noqa: PLC0415

    config, tokenizer = AutoConfig.from_pretrained(model), tiny_tokenizer()
    heads, shared = config.num_attention_heads, config.num_key_value_heads
    file.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(shared)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in _SPECIAL else 1 for token in tokens])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_chat_template(tokenizer.chat_template)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, value in load_file(model / "model.safetensors").items():
        weights = value
        if "q_proj" in name or "k_proj" in name:  # llama.cpp keeps pairs of dimensions together
            count = heads if "q_proj" in name else shared
            rows = value.reshape(count, 2, value.shape[0] // count // 2, *value.shape[1:])
            weights = np.ascontiguousarray(rows.swapaxes(1, 2).reshape(value.shape))
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


if __name__ == "__main__":
    print(save_tiny_model(Path(sys.argv[1])))
