"""How many workers a run is asked to be played in, and what Ray is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from scenarios.errors import UsageError

MOST_WORKERS = 256


def check_sent_at_once(*, batch: bool) -> None:
    """Check that workers are not to send their requests in batches.

    Raises:
        UsageError: they are.
    """
    if batch:
        raise UsageError(
            "--batch gathers what all dialogues of one process ask, and --workers are several",
            "leave one of them out: batches wait for the provider, not for the processor",
        )


@dataclass(frozen=True, slots=True)
class RayWorkers:
    """Workers that Ray places: on this machine, or on those of a cluster."""

    count: int
    address: str | None = None
    """Of a cluster, e.g. ``auto`` or ``host:6379``; None starts Ray on this machine alone."""
    model_actors: int = 1
    """Processes that hold the encoder, and each model of ``hf/``; all workers ask them."""
    gpus_per_model: float | None = None
    """What each of these takes of the GPUs; None: a share with which all fit."""

    def __post_init__(self) -> None:
        """Check what Ray can count.

        Raises:
            UsageError: it cannot.
        """
        gpus = self.gpus_per_model
        if self.model_actors < 1:
            raise UsageError("a model is held by no process", "--ray-model-actors takes 1 or more")
        if gpus is not None and not (0 <= gpus <= 1 or (gpus > 1 and gpus.is_integer())):
            raise UsageError(
                f"no process can take {gpus:g} GPUs",
                "--ray-gpus-per-model takes a share of one, e.g. 0.25, or whole ones",
            )
