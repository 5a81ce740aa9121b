"""The loggers of hipo, all below ``hipo``: silent until somebody listens, and never with a key.

A program that imports hipo configures what it wants of it as of any library::

    logging.getLogger("hipo").setLevel(logging.INFO)

``hipo.endpoint`` tells of retries, pauses and what an endpoint turned out not to understand,
``hipo.limits`` of waits for a rate, ``hipo.models`` of models that are loaded, ``hipo.runner`` of
failed cases and stops, ``hipo.store`` of migrations, ``hipo.run`` of runs begun and continued,
``hipo.review`` of the review page.
"""

from __future__ import annotations

import logging
import os
import re
import traceback
from collections.abc import Collection, Mapping

SHORTEST_SECRET = 6
"""Placeholders such as ``x`` that keyless servers are given are no secrets worth masking."""
LONG_SECRET = 12
"""Characters; a shorter one ("ollama", "secret", "123456") can be a word, a field of JSON or part of a number."""
MASK = "[key]"

_KEY_LIKE = (
    r"\b(?:sk|pk|key|gsk|xai|hf)[-_][A-Za-z0-9*_\-]{6,}"
    r"|\b(?:AIza|ghp_|xox[bp]-)[A-Za-z0-9_\-]{10,}"
    r"|\bBearer\s+\S+"
    r"|(?<=api[-_]key[=:])\s*\S+"
)
_NAMES_A_SECRET = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)$")
_concealed: set[str] = set()

logging.getLogger("hipo").addHandler(logging.NullHandler())


def logger(name: str) -> logging.Logger:
    """Return the logger ``hipo.<name>``; whoever listens gets its records without any key."""
    result = logging.getLogger(f"hipo.{name}")
    if not result.filters:
        result.addFilter(_mask_record)
    return result


def conceal(secret: str) -> None:
    """Remember a key, so that no record ever holds it."""
    _concealed.add(secret)


def scrub(text: str, secrets: Collection[str] = ()) -> str:
    """Mask every secret, and whatever looks like a key, in a text meant for people and logs."""
    # The longest first: one secret may be the beginning of another.
    known = sorted(secrets, key=len, reverse=True)
    for secret in (one for one in known if len(one) >= LONG_SECRET):
        text = text.replace(secret, MASK)
    # A short one inside of what looks like a key leaves no half of that.
    short = [re.escape(one) for one in known if SHORTEST_SECRET <= len(one) < LONG_SECRET]
    return re.sub("|".join((*short, _KEY_LIKE)), MASK, text)


def _mask_record(record: logging.LogRecord) -> bool:
    """Put the text of a record, its fields and its traceback in place of what they were made of."""
    named = {value for name, value in os.environ.items() if _NAMES_A_SECRET.search(name)}
    secrets = _concealed | named
    record.msg, record.args = scrub(record.getMessage(), secrets), None
    if record.exc_info and record.exc_info[1] is not None:
        text = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
        record.exc_text, record.exc_info = scrub(text, secrets), None
    fields: Mapping[str, object] = getattr(record, "fields", {})
    record.fields = {
        name: scrub(value, secrets) if isinstance(value, str) else value
        for name, value in fields.items()
    }
    return True
