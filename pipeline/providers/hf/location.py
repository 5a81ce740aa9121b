"""Where the files of a model lie: a folder, a GGUF file, an adapter on its base, or the hub."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import orjson

from scenarios.errors import UsageError

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

ADAPTER: Final = "adapter_config.json"
"""What makes a folder an adapter of PEFT."""
CONFIG: Final = "config.json"
_GGUF = ".gguf"
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_HUB_ID = re.compile(
    r"(?P<name>\w[\w.-]*(?:/\w[\w.-]*)?(?<!\.gguf))(?:/(?P<gguf>[\w.-]+\.gguf))?(?:@(?P<revision>\w[\w./-]*))?"
)
_HOW: Final = (
    "give the path of a folder or of a .gguf file, or ORGANISATION/NAME of the hub"
    " (after hf/ where a model is to answer)"
)
_ANSWER_S = 10
"""Seconds allowed for a question to the hub."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelSource:
    """What transformers or PEFT load from."""

    place: str
    """A folder, or the id of a repository of the hub."""
    commit: str | None = None
    """Of the repository; None for a folder."""
    gguf: str | None = None
    """The name of the GGUF file in there that is the model; None: it is in safetensors."""

    @property
    def options(self) -> dict[str, str]:
        """What ``from_pretrained`` needs to know besides the place."""
        named = {"revision": self.commit, "gguf_file": self.gguf}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model, and the adapter on top of it, if there is one."""

    base: ModelSource
    adapter: ModelSource | None = None


def locate(model: str, near: Path | None = None) -> ModelFiles:
    """Find the files of a model without loading any of it; the weights are not fetched.

    Args:
        model: the path of a folder or a ``.gguf`` file, or ``organisation/name`` of a repository
            of the hub, ``/file.gguf`` after it where that is the model, and ``@revision`` where it
            is not the newest. What is on this machine goes before the hub.
        near: a folder that a relative path may start from; it goes before the current one.

    Raises:
        UsageError: there is no such thing, or it is no model; it says what is missing.
    """
    path = Path(model).expanduser()
    if near is not None and (near / path).exists():
        path = near / path
    if path.is_file():
        if path.suffix != _GGUF:
            raise UsageError(
                f"{path} is no model", "give the folder of a model, or a file that ends in .gguf"
            )
        return ModelFiles(ModelSource(str(path.parent), gguf=path.name))
    if path.is_dir():
        return _in_folder(path)
    named = _HUB_ID.fullmatch(model)
    if named is None:
        raise UsageError(
            f"there is no folder or file {model}, and no model of the hub is called like that",
            _HOW,
        )
    return _on_hub(named["name"], named["revision"], named["gguf"])


def is_hub_id(model: str) -> bool:
    """Return whether a name can be that of a model of the hub, whatever lies on this machine."""
    return _HUB_ID.fullmatch(model) is not None


def _in_folder(folder: Path) -> ModelFiles:
    """Return the model of a folder: an adapter, one in safetensors, or the one GGUF file."""
    if (folder / ADAPTER).is_file():
        return _with_base(ModelSource(str(folder)), folder / ADAPTER, near=folder)
    weights = any(True for pattern in _WEIGHTS for _ in folder.glob(pattern))
    ggufs = sorted(file.name for file in folder.glob(f"*{_GGUF}"))
    if (folder / CONFIG).is_file() and (weights or not ggufs):
        if not weights:
            raise UsageError(
                f"{folder} has a {CONFIG} and no weights",
                "expected *.safetensors or pytorch_model*.bin beside it",
            )
        return ModelFiles(ModelSource(str(folder)))
    if len(ggufs) > 1:
        raise UsageError(
            f"{folder} holds {len(ggufs)} models: {', '.join(ggufs)}",
            f"name one: hf/{folder}/{ggufs[0]}",
        )
    if not ggufs:
        raise UsageError(
            f"{folder} holds no model",
            f"expected {CONFIG} with weights, {ADAPTER} of PEFT, or one .gguf file",
        )
    return ModelFiles(ModelSource(str(folder), gguf=ggufs[0]))


def base_of_adapter(model: str) -> str | None:
    """Return what a folder of an adapter names as its base; None where a model is no such folder.

    Raises:
        UsageError: the file of the adapter is damaged, or names no base.
    """
    config = Path(model).expanduser() / ADAPTER
    return _named_base(config) if config.is_file() else None


def _named_base(config: Path) -> str:
    try:
        content = orjson.loads(config.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"{config} cannot be read: {error}", "train the adapter anew") from error
    base = content.get("base_model_name_or_path") if isinstance(content, Mapping) else None
    if not isinstance(base, str) or not base:
        raise UsageError(
            f"{config} does not say what it is an adapter of",
            "put the path or the id of its base into 'base_model_name_or_path'",
        )
    return base


def _with_base(adapter: ModelSource, config: Path, near: Path | None = None) -> ModelFiles:
    """Return an adapter with the model that its file says it was trained on."""
    base = _named_base(config)
    try:
        files = locate(base, near)
    except UsageError as error:
        raise UsageError(
            f"{config} is an adapter of {base}, which is not there: {error.message}",
            f"mend 'base_model_name_or_path' in it; {error.hint}",
        ) from error
    if files.adapter is not None:
        raise UsageError(
            f"{config} is an adapter of {base}, which is itself an adapter",
            "merge that one into its base first (PEFT: merge_and_unload)",
        )
    return ModelFiles(files.base, adapter)


def _on_hub(name: str, revision: str | None, gguf: str | None) -> ModelFiles:
    """Return a model of the hub, at the commit that is in the cache, else at the newest."""
    source, names, config = _cached(name, revision) or _asked(name, revision)
    source = ModelSource(source.place, source.commit, gguf)
    if gguf is not None or CONFIG in names:
        return ModelFiles(source)
    if ADAPTER in names:
        return _with_base(source, config())
    raise UsageError(
        f"{name} on huggingface.co is no model that transformers can load: it has no {CONFIG}",
        f"name one of its files, hf/{name}/FILE.gguf, or take another model",
    )


_Found = tuple[ModelSource, frozenset[str], Callable[[], Path]]
"""A repository at a commit, the names of its files, and how to get at its adapter_config.json."""


def _cached(name: str, revision: str | None) -> _Found | None:
    """Return what the cache of this machine holds of a repository, or None."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    try:
        folder = Path(snapshot_download(name, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, ValueError):
        return None
    names = frozenset(str(file.relative_to(folder)) for file in folder.rglob("*"))
    if not names & {CONFIG, ADAPTER} and not any(file.endswith(_GGUF) for file in names):
        return None  # a download that was broken off
    return ModelSource(name, folder.name), names, lambda: folder / ADAPTER


def _asked(name: str, revision: str | None) -> _Found:
    """Ask the hub for a repository: one question, nothing is fetched but a small file at most."""
    from huggingface_hub import HfApi, hf_hub_download  # noqa: PLC0415

    info: ModelInfo = _of_hub(
        name, lambda: HfApi().model_info(name, revision=revision, timeout=_ANSWER_S)
    )
    names = frozenset(file.rfilename for file in info.siblings or ())

    def config() -> Path:
        return Path(_of_hub(name, lambda: hf_hub_download(name, ADAPTER, revision=info.sha)))

    return ModelSource(name, info.sha), names, config


def _of_hub(name: str, question: Callable[[], T]) -> T:
    """Return what the hub answers, or say plainly that it has no such model or is not there."""
    from huggingface_hub.errors import (  # noqa: PLC0415
        GatedRepoError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    neither = f"{name} is neither a folder here nor a model in the cache of huggingface.co"
    try:
        return question()
    except GatedRepoError as error:
        raise UsageError(
            f"{name} is to be had from huggingface.co after asking for it",
            "accept its terms on its page there, and log in: hf auth login",
        ) from error
    except RevisionNotFoundError as error:
        raise UsageError(f"{name} on huggingface.co has no such revision", _HOW) from error
    except RepositoryNotFoundError as error:
        raise UsageError(f"{neither}, and there is none of that name on the hub", _HOW) from error
    except OfflineModeIsEnabled as error:
        raise UsageError(f"{neither}, and HF_HUB_OFFLINE forbids to ask for it", _HOW) from error
    except Exception as error:  # two libraries are at work, each with errors of its own
        why = str(error).strip().partition("\n")[0] or type(error).__name__
        raise UsageError(f"{neither}, and huggingface.co cannot be asked: {why}", _HOW) from error
