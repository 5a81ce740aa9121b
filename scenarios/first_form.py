"""The form in which hipo 0.1 wrote scenarios, to find what its runs were made of by its hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from scenarios.fingerprint import fingerprint

_OPTIONAL: Mapping[str, object] = {
    "scheme": "hipo", "tags": [], "languages": ["en"], "claims": [], "evidence": [],
    "felicitous": [],
}  # fmt: skip


def first_form(data: object, *, real_names: bool) -> tuple[str, str] | None:
    """Return hash and content of a scenario as hipo 0.1 had it; None if it is of another form.

    Args:
        data: the content of a scenario file.
        real_names: whether placeholders are filled with the real names that it has.
    """
    if not isinstance(data, Mapping) or not _is_first(data):
        return None
    plain: dict[str, Any] = {**_OPTIONAL, **data}
    names = plain.pop("placeholders", {})
    opening = plain["opening"]
    plain["opening"] = {
        "question": _listed(opening["question"]),
        "statements": {
            goal: {"text": _listed(said["text"]), "claims": list(said.get("claims", ()))}
            for goal, said in opening["statements"].items()
        },
    }
    plain["facts"] = [{"owner": "responder", "contradicts": [], **fact} for fact in plain["facts"]]
    text = orjson.dumps(plain | {"placeholders": {}}).decode()
    for key, name in names.items():
        filled = name["real"] if real_names and name.get("real") else name["alias"]
        # No other brace of JSON is followed by a letter.
        text = text.replace("{" + key + "}", orjson.dumps(filled).decode()[1:-1])
    return fingerprint(orjson.loads(text)), text


def _is_first(data: Mapping[str, Any]) -> bool:
    opening, facts = data.get("opening"), data.get("facts")
    return (
        isinstance(opening, Mapping)
        and {"question", "statements"} <= set(opening)
        and isinstance(facts, list)
        and all(isinstance(fact, Mapping) and "bearing" in fact for fact in facts)
    )


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else [value]
