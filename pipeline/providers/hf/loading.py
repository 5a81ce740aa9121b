"""Load a model of transformers, with its tokenizer, and an adapter of PEFT on top of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import torch
from tqdm.auto import tqdm
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    modeling_gguf_pytorch_utils,
)

from pipeline.providers.hf.beside import CACHE, CACHE_OF_PEFT, Batchable, beside
from pipeline.providers.hf.chat import ChatFormat
from pipeline.providers.hf.location import ModelFiles, ModelSource, locate
from pipeline.providers.hf.prefixes import AT_ONCE, AT_ONCE_ON_A_CPU, PrefixPool, can_reuse
from pipeline.providers.hf.settings import INSTALL, LocalSettings
from pipeline.torch_setup import choose_device, keep_quiet
from scenarios.errors import UsageError
from scenarios.log import logger

_log = logger("models")
_WINDOW_NAMES = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")
_NO_WINDOW = 10**7
"""Tokenizers without a limit name an absurd one."""
_ONE_READING = Lock()
_NO_MEMORY = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "cannot allocate",
    "status_alloc_failed",  # cuBLAS and cuDNN, of a GPU that is full
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that can be asked."""

    name: str
    model: Any
    tokenizer: Any
    chat: ChatFormat
    device: str
    window: int | None
    """Tokens of prompt and answer together; None where nothing says how many."""
    ends: frozenset[int]
    """Tokens that end an answer."""
    padding: int
    readable: int
    """How many tokens it can be given; its tokenizer may have been given more since."""
    vocabulary: int
    """How many numbers the model gives for the next token."""
    beside: Batchable
    """Which prompts it answers together."""
    prefixes: PrefixPool | None
    """What was computed of how prompts begin; None where every prompt is computed as a whole."""


def load_model(model: str, settings: LocalSettings) -> LoadedModel:
    """Load a model onto its device.

    Raises:
        UsageError: its files are missing or broken, it does not fit into the memory, the device is
            not there, or a package is missing.
    """
    keep_quiet()
    name = f"hf/{model}"
    device = choose_device(settings.device, f"set extra: {{device: auto}} for {name}")
    files = locate(model)
    check_packages(name, files)
    _log.info("loading %s onto %s", name, device)
    dtype = _precision(settings.dtype, device)
    loaded, tokenizer = tried(name, lambda: _from_files(files, dtype, device))
    ends = _ends(loaded, tokenizer)
    readable = int(loaded.get_input_embeddings().weight.shape[0])
    chat = ChatFormat(name, tokenizer, settings)
    # What comes with the weights about sampling is for other ways of asking them.
    loaded.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
    padding = _padding(tokenizer.pad_token_id, ends, readable)
    together = tried(name, lambda: beside(loaded, padding))
    if not together.unequal:
        _log.info("%s answers only prompts of one length together: it reads their padding", name)
    return LoadedModel(
        name=name,
        model=loaded,
        tokenizer=tokenizer,
        chat=chat,
        device=device,
        window=window_of(loaded.config, tokenizer),
        ends=ends,
        padding=padding,
        readable=readable,
        vocabulary=int(loaded.get_output_embeddings().weight.shape[0]),
        beside=together,
        prefixes=_pool(name, loaded, settings.prefix_cache_mib, device),
    )


def _pool(name: str, model: Any, mib: int, device: str) -> PrefixPool | None:
    """Return what keeps the beginnings of prompts, where that is wanted and the model allows it."""
    if mib == 0:
        return None
    if can_reuse(model):
        return PrefixPool(mib * 2**20, AT_ONCE_ON_A_CPU if device == "cpu" else AT_ONCE)
    _log.info("%s computes every prompt from its first token: its memory cannot be divided", name)
    return None


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that memory is used up, that of a GPU or the machine's."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(
        words in str(error).lower() for words in _NO_MEMORY
    )


def check_packages(name: str, files: ModelFiles) -> None:
    """Do nothing where everything is installed that the files of a model need.

    Raises:
        UsageError: a package is missing.
    """
    needed = {"peft": files.adapter is not None, "gguf": files.base.gguf is not None}
    for package, is_needed in needed.items():
        if is_needed and find_spec(package) is None:
            raise UsageError(f"{name} needs the package '{package}'", INSTALL)


def _from_files(files: ModelFiles, dtype: torch.dtype, device: str) -> tuple[Any, Any]:
    source = files.adapter if files.adapter and _has_tokenizer(files.adapter) else files.base
    with reading_once(files.base):
        model, tokenizer = load_weights(files.base, dtype), load_tokenizer(source)
    if files.adapter is not None:
        model = _with_adapter(model, files.adapter, merged=dtype is torch.float32)
    return model.to(device).eval(), tokenizer


@contextmanager
def reading_once(source: ModelSource) -> Iterator[None]:
    """Take the header of a GGUF file apart once for all that is loaded from it within.

    transformers does so once for the configuration, once for the weights and once for the tokenizer,
    and makes the same table of names for every layer: for 49,000 tokens that took half a minute.
    """
    if source.gguf is None:
        yield
        return
    gguf: Any = import_module("gguf")
    with _ONE_READING:
        before = gguf.GGUFReader, gguf.get_tensor_name_map
        gguf.GGUFReader, gguf.get_tensor_name_map = map(cache, before)
        try:
            yield
        finally:
            gguf.GGUFReader, gguf.get_tensor_name_map = before


def load_weights(source: ModelSource, dtype: torch.dtype) -> Any:
    """Return the model of a source, without any adapter.

    Raises:
        ValueError: weights are missing. Other errors are those of the libraries: see ``tried``.
    """
    # The reading of GGUF files draws a bar whatever was said about progress bars.
    modeling_gguf_pytorch_utils.tqdm = partial(tqdm, disable=True)  # type: ignore[attr-defined]
    loaded: Any = AutoModelForCausalLM.from_pretrained(
        source.place,
        dtype=dtype,
        trust_remote_code=False,
        output_loading_info=True,
        **source.options,
    )
    model, report = loaded
    if missing := sorted({*report["missing_keys"], *map(str, report["mismatched_keys"])}):
        # transformers would go on with random numbers in their place
        raise ValueError(f"{len(missing)} of its weights are missing or misshapen: {missing[0]}")
    return model


def load_tokenizer(source: ModelSource) -> Any:
    """Return the tokenizer that lies beside a model, which pads on the left."""
    tokenizer = AutoTokenizer.from_pretrained(
        source.place, trust_remote_code=False, **source.options
    )
    tokenizer.padding_side = "left"
    return tokenizer


def _with_adapter(model: Any, adapter: ModelSource, *, merged: bool) -> Any:
    """Put an adapter onto its base; merged, which is quicker, where that can be and loses no digits."""
    from peft import PeftModel  # noqa: PLC0415

    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        tuned = PeftModel.from_pretrained(model, adapter.place, revision=adapter.commit)
    for remark in remarks:
        if "missing adapter keys" in str(remark.message):
            raise ValueError("the adapter lacks weights that its adapter_config.json speaks of")
    if any(part.is_prompt_learning for part in tuned.peft_config.values()):
        if CACHE != CACHE_OF_PEFT:
            _rename_cache(tuned)
        return tuned
    return tuned.merge_and_unload() if merged else tuned


def _rename_cache(tuned: Any) -> None:
    """Have PEFT find keys and values by its name for them, and transformers by its own.

    Without it a learnt prefix is not used at all, and a learnt prompt is put before every token.
    """

    def renamed(prepare: Callable[..., dict[str, Any]], old: str, new: str) -> Any:
        def prepared(*args: Any, **kwargs: Any) -> dict[str, Any]:
            inputs = prepare(*args, **kwargs)
            return {new if key == old else key: value for key, value in inputs.items()}

        return prepared

    base = "base_model_prepare_inputs_for_generation"
    setattr(tuned, base, renamed(getattr(tuned, base), CACHE, CACHE_OF_PEFT))
    prepare = tuned.prepare_inputs_for_generation
    tuned.prepare_inputs_for_generation = renamed(prepare, CACHE_OF_PEFT, CACHE)


def _has_tokenizer(adapter: ModelSource) -> bool:
    """Return whether a tokenizer was saved with an adapter in a folder; the base has one, too."""
    return (Path(adapter.place) / "tokenizer_config.json").is_file()


def tried(name: str, load: Callable[[], T]) -> T:
    """Return what is loaded, or say in one sentence why it cannot be.

    Raises:
        UsageError: it cannot be loaded.
    """
    try:
        return load()
    except UsageError:
        raise
    except Exception as error:  # five libraries are at work, each with errors of its own
        if is_out_of_memory(error):
            raise UsageError(
                f"{name} does not fit into the memory that is left",
                "take a smaller model or extra: {dtype: bfloat16}, or ask one model at a time",
            ) from error
        why = str(error).strip().partition("\n")[0] or type(error).__name__
        raise UsageError(
            f"{name} cannot be loaded: {why[:300]}",
            "its files are incomplete, broken, or of a kind that transformers does not know",
        ) from error


def _precision(wanted: str, device: str) -> torch.dtype:
    """Return the type of the weights; a CPU is slow at anything but ``float32``."""
    if wanted != "auto":
        dtype: torch.dtype = getattr(torch, wanted)
        return dtype
    if device == "cpu":
        return torch.float32
    if device.startswith("cuda") and torch.cuda.is_bf16_supported():
        return torch.bfloat16
    return torch.float16


def _ends(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return every token that model or tokenizer end an answer with."""
    named = model.generation_config.eos_token_id
    several = named if isinstance(named, list) else [named]
    return frozenset(token for token in (*several, tokenizer.eos_token_id) if token is not None)


def _padding(named: int | None, ends: frozenset[int], readable: int) -> int:
    """Return a token to pad with: many were given one after training that the model cannot read."""
    candidates = [*([] if named is None else [named]), *sorted(ends), 0]
    return next(token for token in candidates if token < readable)


def window_of(config: Any, tokenizer: Any) -> int | None:
    """Return how many tokens a model can take in, by what its files say."""
    text = config.get_text_config()
    for name in _WINDOW_NAMES:
        size = getattr(text, name, None)
        if isinstance(size, int) and size > 0:
            return size
    longest = tokenizer.model_max_length
    return int(longest) if longest < _NO_WINDOW else None
