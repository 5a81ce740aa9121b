"""Pushing to the hub, against a server on this machine that records what it is sent."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import orjson
import pytest
from huggingface_hub import HfApi, constants

from outputs.dataset.card import dataset_card
from outputs.dataset.croissant import CROISSANT, croissant_bytes
from outputs.dataset.datasheet import datasheet
from outputs.export.hub import PushFailed, prepare_push, push_folder
from scenarios.errors import InputError, UsageError
from tests.outputs.sample_facts import sample_facts
from tests.serving import serving

TOKEN = "hf_testtokentesttoken"
REPO = "someone/harbour"


@dataclass
class Hub:
    """What the server was asked, and how it is to behave."""

    address: str = ""
    private: bool = True
    refuse: int | None = None
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    created: dict | None = None
    committed: dict[str, bytes] = field(default_factory=dict)


def answer(hub: Hub, method: str, path: str, body: bytes) -> tuple[int, dict]:
    if hub.refuse is not None:
        return hub.refuse, {"error": f"not for {TOKEN}"}
    if path == "/api/repos/create":
        hub.created = orjson.loads(body)
        return 200, {"url": f"{hub.address}/datasets/{REPO}"}
    if path == f"/api/datasets/{REPO}":
        return 200, {"id": REPO, "private": hub.private, "sha": "0" * 40}
    if path == "/api/validate-yaml":
        return 200, {"errors": [], "warnings": []}
    if path.startswith(f"/api/datasets/{REPO}/preupload/"):
        files = orjson.loads(body)["files"]
        return 200, {
            "files": [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in files
            ]
        }
    if path.startswith(f"/api/datasets/{REPO}/commit/"):
        for line in body.splitlines():
            item = orjson.loads(line)
            if item["key"] == "file":
                hub.committed[item["value"]["path"]] = base64.b64decode(item["value"]["content"])
        return 200, {
            "commitUrl": f"{hub.address}/datasets/{REPO}/commit/1",
            "commitOid": "1" * 40,
            "success": True,
        }
    return 404, {"error": f"no {method} {path}"}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # other tests forbid to ask the hub
    state = Hub()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            path = self.path.partition("?")[0]
            state.requests.append((self.command, path, self.headers.get("Authorization")))
            status, reply = answer(state, self.command, path, body)
            content = orjson.dumps(reply)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_HEAD = handle_any

        def log_message(self, *_):
            pass

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as state.address:
        yield state


@pytest.fixture
def folder(tmp_path):
    """Return a finished export under a licence."""
    path = tmp_path / "harbour"
    facts = sample_facts(path, licence="cc-by-4.0")
    (path / "README.md").write_text(dataset_card(facts), encoding="utf-8")
    (path / "datasheet.md").write_text(datasheet(facts), encoding="utf-8")
    (path / CROISSANT).write_bytes(croissant_bytes(facts))
    return path


def ready(hub: Hub, **changes):
    options = {"environ": {"HF_TOKEN": TOKEN}, "endpoint": hub.address, **changes}
    return prepare_push(REPO, "cc-by-4.0", **options)


def test_every_file_arrives_as_it_is_in_a_private_repository(hub, folder):
    (folder / ".cache").mkdir()
    (folder / ".cache" / "secret").write_text("x")
    address = push_folder(folder, ready(hub))
    assert address == f"{hub.address}/datasets/{REPO}"
    assert hub.created is not None
    assert (hub.created["type"], hub.created["visibility"]) == ("dataset", "private")
    sent = {
        path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()
    }
    del sent[".cache/secret"]
    assert hub.committed == {name: path.read_bytes() for name, path in sent.items()}
    assert {token for _, path, token in hub.requests if "validate" not in path} == {
        f"Bearer {TOKEN}"
    }


def test_it_is_public_only_where_that_is_asked_for(hub, folder):
    hub.private = False
    push_folder(folder, ready(hub, private=False))
    assert hub.created is not None
    assert hub.created["visibility"] == "public"


def test_a_public_repository_that_is_there_is_not_written_to_unasked(hub, folder):
    hub.private = False
    with pytest.raises(UsageError, match="is public"):
        push_folder(folder, ready(hub))
    assert hub.committed == {}


@pytest.mark.parametrize("environ", [{}, {"HF_TOKEN": "  "}])
def test_without_a_token_nothing_is_begun(environ):
    with pytest.raises(UsageError, match="needs a token"):
        prepare_push(REPO, "cc-by-4.0", environ=environ)


def test_without_a_licence_nothing_is_begun():
    with pytest.raises(UsageError, match="without a licence"):
        prepare_push(REPO, None, environ={"HF_TOKEN": TOKEN})


@pytest.mark.parametrize("licence", ["CC BY 4.0", "", "a\nb"])
def test_a_licence_the_hub_could_not_read_is_refused(licence):
    with pytest.raises(UsageError, match="no identifier of a licence"):
        prepare_push(REPO, licence, environ={"HF_TOKEN": TOKEN})


@pytest.mark.parametrize("repo", ["", "a/b/c", "../x", "a b", "https://huggingface.co/a/b"])
def test_a_malformed_name_is_refused(repo):
    with pytest.raises(UsageError, match="no name of a repository"):
        prepare_push(repo, "cc-by-4.0", environ={"HF_TOKEN": TOKEN})


def test_the_token_is_in_no_representation(hub):
    assert TOKEN not in repr(ready(hub))


def test_a_card_that_states_no_licence_or_another_is_not_pushed(hub, folder):
    push = ready(hub)
    card = folder / "README.md"
    card.write_text(dataset_card(sample_facts(folder)), encoding="utf-8")
    with pytest.raises(UsageError, match=r"states the licence None and not 'cc-by-4\.0'"):
        push_folder(folder, push)
    card.write_text("no header")
    with pytest.raises(UsageError, match="states the licence None"):
        push_folder(folder, push)
    card.unlink()
    with pytest.raises(UsageError, match="cannot be read as a card"):
        push_folder(folder, push)
    assert hub.requests == []


def test_an_export_that_was_changed_is_not_pushed(hub, folder):
    (folder / "data/actor/train.parquet").write_text("{}\n")
    with pytest.raises(InputError, match=r"data/actor/train\.parquet"):
        push_folder(folder, ready(hub))
    assert hub.requests == []


def test_links_are_not_followed(hub, folder, tmp_path):
    (tmp_path / "private.txt").write_text("x")
    (folder / "notes.txt").symlink_to(tmp_path / "private.txt")
    with pytest.raises(UsageError, match="is a link"):
        push_folder(folder, ready(hub))
    assert hub.requests == []


@pytest.mark.parametrize(
    ("status", "kind"), [(401, UsageError), (403, UsageError), (500, PushFailed)]
)
def test_a_refusal_of_the_hub_is_told_without_the_token(hub, folder, status, kind):
    hub.refuse = status
    with pytest.raises(kind) as error:
        push_folder(folder, ready(hub))
    assert REPO in str(error.value)
    assert TOKEN not in str(error.value)


def test_a_hub_that_cannot_be_reached_leaves_a_plain_message(folder):
    push = prepare_push(
        REPO, "cc-by-4.0", environ={"HF_TOKEN": TOKEN}, endpoint="http://127.0.0.1:9"
    )
    with pytest.raises(PushFailed, match=r"pushing to someone/harbour failed"):
        push_folder(folder, push)


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_whichever_library_the_hub_is_sent_to_by(folder, monkeypatch, library):
    """Version 1 of huggingface_hub sends by the one, version 2 by the other."""

    def unreachable(*_: object, **__: object) -> None:
        raise pytest.importorskip(library).ConnectError("refused")

    monkeypatch.setattr(HfApi, "create_repo", unreachable)
    push = prepare_push(REPO, "cc-by-4.0", environ={"HF_TOKEN": TOKEN})
    with pytest.raises(PushFailed, match="refused"):
        push_folder(folder, push)
