"""A random Llama of some thousand parameters, saved as a base model: it loads like a real one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}[end]{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"


def tiny_base(
    folder: Path, texts: Iterable[str], *, window: int = 4096, template: str | None = CHAT
) -> Path:
    """Write config, weights and a tokenizer of the words of some texts into a folder.

    Args:
        folder: to be made.
        texts: whose words the tokenizer knows.
        window: tokens that the model reads.
        template: the chat template; None: the tokenizer has none.
    """
    import torch  # noqa: PLC0415 - slow to import, and of no use to most tests
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers  # noqa: PLC0415
    from transformers import (  # noqa: PLC0415
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
    )

    words = Tokenizer(models.WordLevel(unk_token="[unk]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = ["[unk]", "[end]", "[pad]", "<|system|>", "<|user|>", "<|assistant|>"]
    words.train_from_iterator(
        texts, trainers.WordLevelTrainer(vocab_size=4000, special_tokens=special)
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="[unk]", eos_token="[end]", pad_token="[pad]"
    )
    if template is not None:
        tokenizer.chat_template = template
    torch.manual_seed(7)
    size = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=window,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )  # fmt: skip
    LlamaForCausalLM(size).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
