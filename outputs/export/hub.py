"""Push an export to the Hugging Face hub: with a licence, a token, and private unless told otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from outputs.dataset.card import CARD
from outputs.dataset.croissant import check_hashes
from scenarios.errors import RunError, UsageError

if TYPE_CHECKING:
    from huggingface_hub import HfApi

TOKEN = "HF_TOKEN"  # noqa: S105 - the name of the variable, not what is in it
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")
_LICENCE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,63}")
_HEADER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


class PushFailed(RunError):
    """The hub did not take the data; the export itself is complete."""


@dataclass(frozen=True, slots=True)
class Push:
    """Where an export goes, and as what; made by :func:`prepare_push`."""

    repo: str
    """``name`` or ``owner/name`` of a dataset repository."""
    licence: str
    private: bool
    token: str = field(repr=False)
    endpoint: str | None = None
    """Another hub than huggingface.co."""


def prepare_push(
    repo: str,
    licence: str | None,
    *,
    environ: Mapping[str, str],
    private: bool = True,
    endpoint: str | None = None,
) -> Push:
    """Check everything that can be checked before anything is exported or sent.

    Raises:
        UsageError: no licence was chosen, there is no token, a name is malformed, or the package
            is missing.
    """
    if _NAME.fullmatch(repo) is None:
        raise UsageError(f"{repo!r} is no name of a repository", "give owner/name")
    if licence is None:
        raise UsageError(
            "data are not pushed without a licence",
            "choose one that the terms of the generators allow, with --license, e.g. "
            "--license cc-by-4.0, or --license other",
        )
    if _LICENCE.fullmatch(licence) is None:
        raise UsageError(
            f"{licence!r} is no identifier of a licence",
            "give it as the hub spells it, e.g. cc-by-4.0, apache-2.0 or other",
        )
    token = environ.get(TOKEN, "").strip()
    if not token:
        raise UsageError(
            "pushing to the hub needs a token",
            f"set the variable {TOKEN} to a token that may write",
        )
    if find_spec("huggingface_hub") is None:
        raise UsageError(
            "pushing to the hub needs the package huggingface_hub", 'pip install "hipo[hub]"'
        )
    return Push(repo, licence, private, token, endpoint)


def push_folder(folder: Path, push: Push) -> str:
    """Send a finished export to the hub in one commit and return the address of the data set.

    The repository is made if it is not there. Hidden files are not sent.

    Raises:
        UsageError: the card states another licence than the one given, a file is a link or has
            changed since it was exported, the repository is public though private was asked for,
            or the hub refuses the token.
        PushFailed: the hub cannot be reached or answers with an error.
    """
    _check_licence(folder / CARD, push.licence)
    check_hashes(folder)
    files = _files(folder)
    from huggingface_hub import HfApi  # noqa: PLC0415 - optional and slow to import
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415 - as above
    from huggingface_hub.utils.tqdm import disable_progress_bars  # noqa: PLC0415 - as above

    disable_progress_bars()
    api = HfApi(endpoint=push.endpoint, token=push.token, library_name="hipo")
    try:
        return _send(api, folder, files, push)
    except HfHubHTTPError as error:
        status = error.response.status_code
        reason = _without(push.token, error.server_message or f"status {status}")
        if status in (401, 403):
            raise UsageError(
                f"the hub refuses to write to {push.repo}: {reason}",
                f"use a token in {TOKEN} that may write there",
            ) from None
        raise PushFailed(f"the hub refused {push.repo}: {reason}") from None
    except _failures() as error:
        reason = _without(push.token, str(error).partition("\n")[0])
        raise PushFailed(f"pushing to {push.repo} failed: {reason}") from None


def _send(api: HfApi, folder: Path, files: list[Path], push: Push) -> str:
    """Make the repository, and commit every file to it."""
    from huggingface_hub import CommitOperationAdd  # noqa: PLC0415 - optional and slow to import

    made = api.create_repo(push.repo, repo_type="dataset", private=push.private, exist_ok=True)
    if push.private and api.dataset_info(made.repo_id).private is False:
        raise UsageError(
            f"{made.repo_id} is there already and is public",
            "push with --public, make it private on the hub, or give another name",
        )
    adds = [CommitOperationAdd(file.relative_to(folder).as_posix(), file) for file in files]
    api.create_commit(
        made.repo_id, adds, commit_message=f"Export of {folder.name}", repo_type="dataset"
    )
    return str(made)


def _failures() -> tuple[type[Exception], ...]:
    """Return what a connection fails with: versions of huggingface_hub send by different libraries."""
    senders = [name for name in ("httpx2", "httpx") if find_spec(name) is not None]
    return (OSError, ValueError, *(import_module(name).HTTPError for name in senders))


def _check_licence(card: Path, licence: str) -> None:
    """Refuse to publish a card that does not state the licence that was chosen."""
    try:
        header = _HEADER.match(card.read_text(encoding="utf-8"))
        stated = yaml.safe_load(header.group(1)).get("license") if header else None
    except (OSError, yaml.YAMLError, AttributeError, UnicodeDecodeError) as error:
        raise UsageError(f"{card}: cannot be read as a card", "export the data anew") from error
    if stated != licence:
        raise UsageError(
            f"{card}: states the licence {stated!r} and not {licence!r}",
            f"export anew with --overwrite --license {licence}",
        )


def _files(folder: Path) -> list[Path]:
    """Return the files to send, sorted; hidden ones are left out."""
    problems = []
    for path in sorted(folder.rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if path.is_symlink():
            raise UsageError(f"{path}: is a link", "an export holds none; export the data anew")
        if path.is_file():
            problems.append(path)
    return problems


def _without(token: str, text: str) -> str:
    return text.replace(token, "***")
