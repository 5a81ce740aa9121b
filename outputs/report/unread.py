"""What rules cannot see, and figures do not say, of dialogues in other languages than English."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from outputs.report.page import Remark
from prompts.languages import described_language
from quality.gates.registry import GATES
from quality.gates.settings import GateSettings
from scenarios.plural import plural
from scenarios.wording import WITHOUT_SPACES


def unread_rules(languages: Mapping[str, int], settings: GateSettings) -> tuple[Remark, ...]:
    """Return a warning that names the rules which find nothing in languages of the run.

    Args:
        languages: dialogues by language (BCP 47).
        settings: which rules were asked.
    """
    by_rules: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for language in languages:
        reads = {name: GATES.get(name).reads for name in settings.names}
        unread = [name for name, can in reads.items() if can and not can(_bare(language))]
        if unread:
            by_rules[tuple(unread)].append(language)
    return tuple(
        Remark(
            f"{plural(sum(languages[one] for one in found), 'dialogue')} in "
            f"{', '.join(map(described_language, found))}: {_naming(rules)} not "
            "know the language. That they flagged nothing there says nothing.",
            tone="warning",
        )
        for rules, found in by_rules.items()
    )


def measured_in_signs(languages: Mapping[str, int]) -> tuple[Remark, ...]:
    """Return a remark where words are counted that nothing stands between."""
    found = [one for one in languages if _bare(one) in WITHOUT_SPACES]
    if not found:
        return ()
    return (
        Remark(
            f"In {', '.join(map(described_language, found))} no space stands between words: pairs "
            "of signs that follow each other count as words. These figures compare with others of "
            "the same language alone."
        ),
    )


def _naming(rules: tuple[str, ...]) -> str:
    named = ", ".join(rules)
    return f"the rule {named} does" if len(rules) == 1 else f"the rules {named} do"


def _bare(language: str) -> str:
    return language.replace("_", "-").split("-")[0].casefold()
