"""Where a model's files lie, and what state they are in."""

from __future__ import annotations

import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import orjson
import pytest

from pipeline.providers.hf.location import ModelFiles, ModelSource, locate
from pipeline.providers.hf.revision import BLOCKS, WHOLE, revision_of
from scenarios.arms import ModelSpec, Parameters
from scenarios.errors import UsageError
from tests.serving import serving


def model_folder(folder: Path, weights: bytes = b"weights") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "llama"}')
    (folder / "model.safetensors").write_bytes(weights)
    return folder


def adapter_folder(folder: Path, base: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_bytes(orjson.dumps({"base_model_name_or_path": base}))
    (folder / "adapter_model.safetensors").write_bytes(b"lora")
    return folder


def state(model: Path | str, **extra: object) -> str:
    return revision_of(ModelSpec("hf", str(model), parameters=Parameters(extra=extra)))


def test_a_folder_with_weights_is_a_model(tmp_path):
    folder = model_folder(tmp_path / "m")
    assert locate(str(folder)) == ModelFiles(ModelSource(str(folder)))


def test_a_gguf_file_is_a_model_by_its_own_name_and_by_that_of_its_folder(tmp_path):
    (tmp_path / "q4.gguf").write_bytes(b"GGUF")
    found = ModelFiles(ModelSource(str(tmp_path), gguf="q4.gguf"))
    assert locate(str(tmp_path)) == locate(str(tmp_path / "q4.gguf")) == found
    assert found.base.options == {"gguf_file": "q4.gguf"}


def test_a_folder_of_several_gguf_files_asks_which(tmp_path):
    for name in ("q4.gguf", "q8.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    with pytest.raises(UsageError, match=r"holds 2 models: q4\.gguf, q8\.gguf"):
        locate(str(tmp_path))


def test_an_adapter_brings_the_base_that_it_names(tmp_path):
    base = model_folder(tmp_path / "base")
    adapter = adapter_folder(tmp_path / "tuned", str(base))
    assert locate(str(adapter)) == ModelFiles(ModelSource(str(base)), ModelSource(str(adapter)))


def test_a_base_may_be_named_from_where_the_adapter_lies(tmp_path, monkeypatch):
    model_folder(tmp_path / "base")
    adapter = adapter_folder(tmp_path / "tuned", "../base")
    for name in ("base", "here"):  # the same path leads elsewhere from here
        (tmp_path / "other" / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "other" / "here")
    assert Path(locate(str(adapter)).base.place).resolve() == tmp_path / "base"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder.mkdir(), "holds no model"),
        (lambda folder: shutil.rmtree(model_folder(folder)), "no model of the hub is called like"),
        (
            lambda folder: (model_folder(folder) / "model.safetensors").unlink(),
            "has a config.json and no weights",
        ),
        (lambda folder: adapter_folder(folder, ""), "does not say what it is an adapter of"),
        (lambda folder: adapter_folder(folder, "/no/base"), "adapter of /no/base, which is not"),
        (
            lambda folder: adapter_folder(
                folder,
                str(adapter_folder(folder.parent / "o", str(model_folder(folder.parent / "b")))),
            ),
            "which is itself an adapter",
        ),
        (
            lambda folder: (adapter_folder(folder, "x") / "adapter_config.json").write_text("{"),
            "cannot be read",
        ),
        (lambda folder: folder.write_text("text"), "is no model"),
    ],
)
def test_what_is_no_model_is_told_by_what_it_lacks(tmp_path, make, message):
    make(tmp_path / "m")
    with pytest.raises(UsageError, match=message):
        locate(str(tmp_path / "m"))


def test_a_folder_that_was_trained_on_is_another_model_under_the_same_name(tmp_path):
    folder = model_folder(tmp_path / "m")
    before = state(folder)
    (folder / "model.safetensors").write_bytes(b"WEIGHTS")
    assert state(folder) != before


def test_equal_copies_are_one_model_whatever_trainers_left_beside_them(tmp_path):
    folder = model_folder(tmp_path / "m")
    copy = model_folder(tmp_path / "copy")
    (copy / "trainer_state.json").write_text("{}")
    (copy / "README.md").write_text("a card")
    assert state(folder) == state(copy)


def test_an_adapter_is_another_model_when_its_base_or_itself_changes(tmp_path):
    base = model_folder(tmp_path / "base")
    adapter = adapter_folder(tmp_path / "tuned", str(base))
    states = {state(adapter), state(base)}
    (adapter / "adapter_model.safetensors").write_bytes(b"LORA")
    states.add(state(adapter))
    (base / "model.safetensors").write_bytes(b"WEIGHTS")
    states.add(state(adapter))
    assert len(states) == 4


def test_of_a_large_file_blocks_are_read_from_its_beginning_to_its_end(tmp_path):
    folder = model_folder(tmp_path / "m")
    weights = folder / "model.safetensors"
    size = 4 * WHOLE
    states = set()
    for changed in (None, 0, (size - 64 * 2**10) * 100 // (BLOCKS - 1), size - 1):
        with weights.open("wb") as file:  # full of holes: it takes no room
            file.truncate(size)
            if changed is not None:
                file.seek(changed)
                file.write(b"\1")
        states.add(state(folder))
    assert len(states) == 4


def test_the_chat_template_of_the_settings_is_part_of_the_model(tmp_path):
    folder, template = model_folder(tmp_path / "m"), tmp_path / "chat.jinja"
    template.write_text("{{ messages }}")
    before = state(folder, chat_template=str(template))
    template.write_text("{{ messages[0] }}")
    assert len({state(folder), before, state(folder, chat_template=str(template))}) == 3


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"top_k": 3}, "extra.top_k: extra inputs are not permitted"),
        ({"device": "tpu"}, "extra.device"),
        ({"dtype": "int4"}, "extra.dtype"),
        ({"chat_template": "/no/such.jinja"}, "there is no file /no/such.jinja"),
    ],
)
def test_settings_that_a_model_does_not_take_are_told_before_anything_is_asked(
    tmp_path, extra, message
):
    folder = model_folder(tmp_path / "m")
    with pytest.raises(UsageError, match=message):
        state(folder, **extra)


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Serve the facts about one repository as huggingface.co does, and count the questions."""
    constants = pytest.importorskip("huggingface_hub.constants")
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/api/models"):  # the client asks for things of its own, too
                asked.append(self.path)
            known = self.path.startswith("/api/models/lab/small")
            names = ["config.json", "model.safetensors"]
            facts = {
                "id": "lab/small",
                "sha": COMMIT,
                "siblings": [{"rfilename": n} for n in names],
            }
            body = orjson.dumps(facts if known else {"error": "Repository not found"})
            self.send_response(200 if known else 404)
            if not known:
                self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Hub)) as address:
        monkeypatch.setattr(constants, "ENDPOINT", address)
        yield asked


def test_a_model_of_the_hub_is_pinned_to_its_newest_commit_and_not_fetched(hub, tmp_path):
    found = locate("lab/small")
    assert found == ModelFiles(ModelSource("lab/small", COMMIT))
    assert [path.partition("?")[0] for path in hub] == ["/api/models/lab/small"]
    assert not list(tmp_path.rglob("*.safetensors"))
    assert state("lab/small") == COMMIT


def test_what_the_cache_holds_of_the_hub_is_not_asked_for(hub, tmp_path):
    repository = tmp_path / "cache" / "models--lab--small"
    model_folder(repository / "snapshots" / "feed")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("feed")
    assert locate("lab/small") == ModelFiles(ModelSource("lab/small", "feed"))
    assert hub == []


def test_a_file_and_a_revision_of_the_hub_can_be_named(hub):
    found = locate("lab/small/q4.gguf@v2").base
    assert (found.place, found.gguf) == ("lab/small", "q4.gguf")
    assert hub[0].startswith("/api/models/lab/small/revision/v2")


def test_a_name_that_is_nowhere_is_told_so(hub):
    with pytest.raises(UsageError, match="lab/large is neither a folder here nor a model") as told:
        locate("lab/large")
    assert "the path of a folder" in told.value.hint


def test_without_a_network_a_name_that_is_not_here_is_told_so(monkeypatch, tmp_path):
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UsageError, match="HF_HUB_OFFLINE forbids to ask for it"):
        locate("lab/small")
