"""A base model to be tuned: where it is, how it reads conversations, and its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from outputs.training.training_set import Conversation
from pipeline.providers.hf.chat import PLAIN_TEMPLATE, left_out
from pipeline.providers.hf.location import ModelFiles, ModelSource, locate
from pipeline.providers.system_messages import without_system
from pipeline.torch_setup import choose_device
from scenarios.errors import UsageError

EXTRA = 'pip install "hipo[train]"'
_PACKAGES = ("torch", "transformers", "accelerate", "datasets", "peft", "trl")


def check_packages() -> None:
    """Do nothing where everything that training needs is installed.

    Raises:
        UsageError: something is missing; names it and the extra that brings it.
    """
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        raise UsageError(
            f"training needs the package {missing[0]}, which is not installed",
            f"install it: {EXTRA}",
        )


def find_base(base: str) -> ModelSource:
    """Return where a base is: a folder, a ``.gguf`` file, a folder of one, or an id of the hub.

    Raises:
        UsageError: there is no such model, or it is an adapter.
    """
    files = locate(base)
    if files.adapter is not None:
        raise UsageError(
            f"{base}: is an adapter, not a base model",
            f"train on the base that it was made for, {name_of(files.base)}",
        )
    source = files.base
    if source.commit is None:
        return ModelSource(str(Path(source.place).resolve()), gguf=source.gguf)
    return source


def name_of(source: ModelSource, *, pinned: bool = True) -> str:
    """Return what stands for a base behind ``hf/``; pinned to its commit, if it is of the hub."""
    name = source.place if source.gguf is None else f"{source.place}/{source.gguf}"
    return f"{name}@{source.commit}" if pinned and source.commit is not None else name


@dataclass(frozen=True, slots=True)
class BaseText:
    """The tokenizer of a base, ready for conversations."""

    tokenizer: Any
    window: int | None
    """Tokens that the model can read at once; None where it does not say."""
    remarks: tuple[str, ...]
    knows_system: bool

    def shaped(self, messages: Conversation) -> Conversation:
        """Return a conversation as the chat template takes it."""
        return messages if self.knows_system else without_system(messages)

    def count(self, conversations: Sequence[Conversation]) -> list[int]:
        """Return how many tokens each whole conversation has."""
        shaped = [self.shaped(messages) for messages in conversations]
        ids = self.tokenizer.apply_chat_template(shaped, tokenize=True, return_dict=False)
        return [len(one) for one in ids]


def open_text(source: ModelSource) -> BaseText:
    """Load the tokenizer of a base, and look up how much the model reads.

    A tokenizer without a chat template gets :data:`pipeline.providers.hf.chat.PLAIN_TEMPLATE`.

    Raises:
        UsageError: there is no such model, or its tokenizer ends no text.
    """
    from transformers import AutoConfig  # noqa: PLC0415

    from pipeline.providers.hf import loading  # noqa: PLC0415 - imports torch

    name = name_of(source)
    loading.check_packages(name, ModelFiles(source))
    tokenizer = loading.tried(name, lambda: loading.load_tokenizer(source))
    config = loading.tried(
        name,
        # without a word on it, transformers asks at the terminal whether code of the model may run
        lambda: AutoConfig.from_pretrained(source.place, trust_remote_code=False, **source.options),
    )
    if tokenizer.eos_token is None:
        raise UsageError(
            f"{name}: its tokenizer has no token that ends a text",
            "choose a base whose tokenizer names an eos_token",
        )
    remarks = []
    if tokenizer.chat_template is None:
        tokenizer.chat_template = PLAIN_TEMPLATE
        remarks.append("the base has no chat template: a plain one is used, and saved beside it")
    knows_system = _knows_system(tokenizer)
    if not knows_system:
        remarks.append("the base knows no system message: its text goes to the head of the user's")
    window = loading.window_of(config, tokenizer)
    text = BaseText(tokenizer, window, tuple(remarks), knows_system)
    _check_template(name, text)
    return text


_SAID = [{"role": role, "content": f"Says {role}."} for role in ("system", "user", "assistant")]


def _knows_system(tokenizer: Any) -> bool:
    """Return whether the chat template takes a system message, and does not pass it over."""
    try:
        text = tokenizer.apply_chat_template(_SAID, tokenize=False)
    except TemplateError:
        return False
    return left_out(_SAID, text) != "system"


def _check_template(name: str, text: BaseText) -> None:
    """Do nothing where the chat template writes down a conversation with its answer.

    Raises:
        UsageError: it is broken, or leaves something out that is said.
    """
    said = text.shaped(_SAID)
    try:
        written = text.tokenizer.apply_chat_template(said, tokenize=False)
    except TemplateError as error:
        raise UsageError(
            f"{name}: its chat template cannot be used: {error}",
            "mend chat_template of its tokenizer (chat_template.jinja), or choose another base",
        ) from error
    lost = [one["role"] for one in said if one["content"].split()[-1] not in written]
    if lost:
        raise UsageError(
            f"{name}: its chat template leaves out what the {lost[0]} says",
            "mend chat_template of its tokenizer (chat_template.jinja), or choose another base",
        )


def load_base(source: ModelSource, dtype: str, device: str) -> Any:
    """Load the weights of a base, to be trained on.

    Args:
        source: where it is.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        device: where it is to be.

    Raises:
        UsageError: they cannot be read.
    """
    import torch  # noqa: PLC0415

    from pipeline.providers.hf import loading  # noqa: PLC0415 - imports torch

    name = name_of(source)
    model = loading.tried(name, lambda: loading.load_weights(source, getattr(torch, dtype)))
    if source.gguf is not None:
        # The weights are numbers like any others by now, and trainers refuse what is quantised.
        model.hf_quantizer, model.is_quantized = None, False
        del model.config.quantization_config
    # What the adapter will name, in words that PEFT knows: it has a field of its own for the commit.
    model.config.name_or_path = model.name_or_path = name_of(source, pinned=False)
    return model.to(device)


def chosen_device(device: str) -> str:
    """Return ``cuda``, ``mps`` or ``cpu``.

    Raises:
        UsageError: the device that was asked for is not there, or there are several.
    """
    import torch  # noqa: PLC0415

    chosen = choose_device(device, "use --device auto or cpu")
    if chosen == "cuda" and torch.cuda.device_count() > 1:
        raise UsageError(
            f"{torch.cuda.device_count()} GPUs can be seen, and hipo train uses one",
            "choose it: CUDA_VISIBLE_DEVICES=0 hipo train ...",
        )
    return chosen


def chosen_dtype(dtype: str, device: str) -> str:
    """Return the numbers that weights are held in: bfloat16 on a GPU that knows it, else float32."""
    import torch  # noqa: PLC0415

    if dtype != "auto":
        return dtype
    return "bfloat16" if device == "cuda" and torch.cuda.is_bf16_supported() else "float32"
