"""A base model on this machine: where it is, its tokenizer, its window, its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outputs.training.training_set import Conversation
from pipeline.providers.hf.chat import PLAIN_TEMPLATE, without_system
from scenarios.errors import UsageError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

EXTRA = 'pip install "hipo[train]"'
_PACKAGES = ("torch", "transformers", "accelerate", "datasets", "peft", "trl")


def check_packages(packages: Sequence[str] = _PACKAGES) -> None:
    """Do nothing where everything that training needs is installed.

    Raises:
        UsageError: something is missing; names it and the extra that brings it.
    """
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise UsageError(
            f"training needs the package {missing[0]}, which is not installed",
            f"install it: {EXTRA}",
        )


@dataclass(frozen=True, slots=True)
class BaseSource:
    """Where a base model is read from."""

    location: str
    """An id of the hub, or the absolute path of a folder."""
    gguf: str | None = None
    """The name of the one file in it that holds everything, of a model in GGUF."""

    @property
    def name(self) -> str:
        """What stands for it in the configuration of an adapter."""
        return self.location if self.gguf is None else str(Path(self.location) / self.gguf)

    @property
    def arguments(self) -> dict[str, Any]:
        """The keywords of ``from_pretrained`` that say which file is meant."""
        return {} if self.gguf is None else {"gguf_file": self.gguf}


def find_base(base: str) -> BaseSource:
    """Return where a base is: a folder, a ``.gguf`` file, a folder of one, or an id of the hub.

    Raises:
        UsageError: it is a path, and there is no model.
    """
    path = Path(base)
    if path.is_file():
        if path.suffix != ".gguf":
            raise UsageError(f"{base}: is a file, and no .gguf", "give the folder of the model")
        path = path.resolve()
        return BaseSource(str(path.parent), path.name)
    if path.is_dir():
        return _in_folder(path.resolve())
    if path.is_absolute() or base.startswith((".", "~")) or base.count("/") > 1:
        raise UsageError(f"{base}: there is no such folder or file", "give an existing model")
    return BaseSource(base)


def _in_folder(folder: Path) -> BaseSource:
    if (folder / "adapter_config.json").is_file():
        raise UsageError(
            f"{folder}: is an adapter, not a base model",
            "train on the base that it was made for; its adapter_config.json names it",
        )
    if (folder / "config.json").is_file():
        return BaseSource(str(folder))
    files = sorted(folder.glob("*.gguf"))
    if len(files) == 1:
        return BaseSource(str(folder), files[0].name)
    raise UsageError(
        f"{folder}: holds no model: neither config.json nor one .gguf file"
        + (f", but {len(files)} of them" if files else ""),
        "give the folder of a model in the form of transformers, or a .gguf file",
    )


@dataclass(frozen=True, slots=True)
class BaseText:
    """The tokenizer of a base, ready for conversations."""

    tokenizer: PreTrainedTokenizerBase
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
        ids: Any = self.tokenizer.apply_chat_template(shaped, tokenize=True, return_dict=False)
        return [len(one) for one in ids]


def open_text(source: BaseSource) -> BaseText:
    """Load the tokenizer of a base, and look up how much the model reads.

    A tokenizer without a chat template gets :data:`pipeline.providers.hf.chat.PLAIN_TEMPLATE`.

    Raises:
        UsageError: there is no such model, or its tokenizer ends no text.
    """
    from transformers import AutoConfig, AutoTokenizer  # noqa: PLC0415

    if source.gguf is not None:
        check_packages(("gguf",))
    try:
        config = AutoConfig.from_pretrained(source.location, **source.arguments)
        tokenizer = AutoTokenizer.from_pretrained(source.location, **source.arguments)
    except (OSError, ValueError, KeyError) as error:
        raise _not_loaded(source, error) from error
    if tokenizer.eos_token is None:
        raise UsageError(
            f"{source.name}: its tokenizer has no token that ends a text",
            "choose a base whose tokenizer names an eos_token",
        )
    remarks = []
    if tokenizer.chat_template is None:
        tokenizer.chat_template = PLAIN_TEMPLATE
        remarks.append("the base has no chat template: a plain one is used, and saved beside it")
    knows_system = _knows_system(tokenizer)
    if not knows_system:
        remarks.append("the base knows no system message: its text goes to the head of the user's")
    window = getattr(config.get_text_config(), "max_position_embeddings", None)
    return BaseText(tokenizer, window, tuple(remarks), knows_system)


def _knows_system(tokenizer: PreTrainedTokenizerBase) -> bool:
    from jinja2 import TemplateError  # noqa: PLC0415

    said = [{"role": role, "content": role} for role in ("system", "user", "assistant")]
    try:
        tokenizer.apply_chat_template(said, tokenize=False)
    except TemplateError:
        return False
    return True


def load_model(source: BaseSource, dtype: str, device: str) -> PreTrainedModel:
    """Load the weights of a base.

    Args:
        source: where it is.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        device: where it is to be.

    Raises:
        UsageError: they cannot be read.
    """
    import torch  # noqa: PLC0415
    from transformers import AutoModelForCausalLM  # noqa: PLC0415

    try:
        model: Any = AutoModelForCausalLM.from_pretrained(
            source.location, dtype=getattr(torch, dtype), **source.arguments
        )
    except (OSError, ValueError, KeyError) as error:
        raise _not_loaded(source, error) from error
    model.to(device)
    loaded: PreTrainedModel = model
    return loaded


def _not_loaded(source: BaseSource, error: Exception) -> UsageError:
    first = str(error).strip().partition("\n")[0]
    return UsageError(
        f"the base model {source.name!r} cannot be loaded: {first}",
        "give the path of a folder that holds a causal language model, a .gguf file, or an id that "
        "the Hugging Face hub, or its cache here, has",
    )


def chosen_device(device: str) -> str:
    """Return ``cuda``, ``mps`` or ``cpu``.

    Raises:
        UsageError: the device that was asked for is not there, or there are several.
    """
    import torch  # noqa: PLC0415

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    chosen = next(name for name in there if there[name]) if device == "auto" else device
    if not there[chosen]:
        raise UsageError(f"there is no {device} device here", "use --device auto or cpu")
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
