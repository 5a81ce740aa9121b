"""What a recipe may say of a model in this process: device, precision, chat template."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from scenarios.arms import ModelSpec
from scenarios.errors import UsageError
from scenarios.strict import Strict

Precision = Literal["auto", "float32", "bfloat16", "float16"]
PLAIN: Final = "plain"
"""The chat template that needs none."""
SCHEMA_PACKAGE: Final = "llguidance"
INSTALL: Final = 'pip install "hipo[local]"'


class LocalSettings(Strict):
    """The fields of ``extra`` that a model in this process takes."""

    device: Annotated[str, Field(pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$")] = "auto"
    """``auto`` takes CUDA, else Apple's MPS, else the CPU."""
    dtype: Precision = "auto"
    """``auto`` is ``float32`` on a CPU and the half precision that a GPU is good at."""
    chat_template: str | None = None
    """A Jinja file, or ``plain`` for a model that was never taught to chat; None: its own."""
    chat_template_kwargs: Mapping[str, Any] = Field(default_factory=dict)
    """Handed to the chat template, e.g. ``{enable_thinking: false}``."""
    prefix_cache_mib: Annotated[int, Field(ge=0)] = 1024
    """MiB for what prompts begin with, which is computed once; 0 computes it for every prompt."""

    @classmethod
    def of(cls, spec: ModelSpec) -> LocalSettings:
        """Return the settings of a model, checked.

        Raises:
            UsageError: a field is unknown, a value is not allowed, or a file is not there.
        """
        extra = dict(spec.parameters.extra) if spec.parameters is not None else {}
        try:
            settings = cls.model_validate(extra)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"]))
            raise UsageError(
                f"{spec.name}: extra.{field}: {first['msg'][0].lower()}{first['msg'][1:]},"
                f" found {first['input']!r}",
                f"a model in this process takes {', '.join(cls.model_fields)}",
            ) from error
        template = settings.template_file
        if template is not None and not template.is_file():
            raise UsageError(
                f"{spec.name}: extra.chat_template: there is no file {template}",
                f"give the path of a Jinja file, or {PLAIN!r}",
            )
        if spec.structured == "native" and find_spec(SCHEMA_PACKAGE) is None:
            raise UsageError(
                f"{spec.name} keeps to the answer's schema with the package {SCHEMA_PACKAGE},"
                " which is not installed",
                f"{INSTALL}, or leave 'structured' out: then the prompt alone asks for the format",
            )
        return settings

    @property
    def template_file(self) -> Path | None:
        """The file of the chat template, where it is one."""
        if self.chat_template in {None, PLAIN}:
            return None
        return Path(str(self.chat_template)).expanduser()
