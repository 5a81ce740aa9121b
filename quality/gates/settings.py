"""Which gates are asked, and with which thresholds: put together from what the gates declare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import ValidationError, create_model, field_validator

from quality.gates.registry import GATES
from scenarios.errors import UsageError
from scenarios.located import shortened
from scenarios.spelling import suggestion
from scenarios.strict import Strict


class GateSettings(Strict):
    """What a recipe says about gates.

    The thresholds of the gates that ship are fields of it; a gate of a plugin is asked if there
    is a field of its name, which holds the settings of that gate.
    """

    off: tuple[str, ...] = ()
    """Names of gates that are not asked."""
    plugin_gates: ClassVar[tuple[str, ...]] = ()

    @field_validator("off")
    @classmethod
    def _gates_exist(cls, off: tuple[str, ...]) -> tuple[str, ...]:
        names = (*GATES.shipped, *cls.plugin_gates)
        for name in off:
            if name not in names:
                raise ValueError(
                    f"there is no gate {name!r}; {suggestion(name, names, listing='gates')}"
                )
        return off

    @property
    def names(self) -> tuple[str, ...]:
        """The gates that are asked, in their order."""
        return tuple(n for n in (*GATES.shipped, *self.plugin_gates) if n not in self.off)

    @property
    def embeds(self) -> bool:
        """Whether a gate that is asked compares embeddings."""
        return any(GATES.get(name).embeds for name in self.names)

    def of(self, gate: str) -> Strict:
        """Return the settings that a gate is built with."""
        own: Strict = getattr(self, gate) if gate in self.plugin_gates else self
        return own


def gate_settings(values: Mapping[str, Any] | None = None) -> GateSettings:
    """Return settings with these values, the others at their defaults.

    Args:
        values: ``off``, thresholds of shipped gates, and ``{name: its settings}`` for each gate of
            a plugin that is to be asked, e.g. ``{"max_sentences": 3, "shouting": {}}``.

    Raises:
        UsageError: there is no threshold and no gate of a name, a value is not allowed, or a
            plugin cannot be loaded.
    """
    model = settings_class()
    given = values or {}
    if added := [name for name in given if name not in model.model_fields]:
        plugin_gates = GATES.names()[len(GATES.shipped) :]
        for name in added:
            if name not in plugin_gates:
                names = (*model.model_fields, *plugin_gates)
                raise UsageError(
                    f"verification.gates.{name}: there is no such threshold, and no gate of a"
                    " plugin has this name",
                    f"{suggestion(name, names, listing='there are')}; {GATES.origin_hint()}",
                )
        model = settings_class(added)
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problems = [
            f"verification.gates.{'.'.join(map(str, detail['loc']))}: "
            f"found {shortened(detail['input'])}; {detail['msg'].removeprefix('Value error, ')}"
            for detail in error.errors()
        ]
        raise UsageError(
            "\n".join(problems), f"thresholds: {', '.join(model.model_fields)}"
        ) from None


def settings_class(plugin_gates: Iterable[str] = ()) -> type[GateSettings]:
    """Return the settings with the fields of all shipped gates and of the named plugin gates."""
    added = {name: GATES.get(name).settings for name in plugin_gates}
    shipped = dict.fromkeys(GATES.get(name).settings for name in GATES.shipped)
    fields: dict[str, Any] = {name: (settings, settings()) for name, settings in added.items()}
    bases: tuple[type[Any], ...] = (GateSettings, *shipped)
    model: type[GateSettings] = create_model("GateSettings", __base__=bases, **fields)
    model.plugin_gates = tuple(added)
    return model
