"""Schemes in Chinese: complete, consistent, and understood where labels are read."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from scenarios.errors import InputError
from scenarios.schemes.registry import load_scheme, scheme_names
from scenarios.schemes.translation import (
    SHIPPED,
    label_names,
    read_translation,
    shipped_translation,
    text_pairs,
)
from scenarios.schemes.vocabulary import resolve_label

LATIN = re.compile(r"[A-Za-z]{2,}")
NUMBER_OR_BRACE = re.compile(r"\{\w+\}|\d+")


@pytest.mark.parametrize("name", scheme_names())
def test_every_scheme_that_ships_is_whole_in_chinese(name: str) -> None:
    scheme = load_scheme(name)
    translation = read_translation(SHIPPED / "zh" / f"{name}.yaml", scheme)
    assert shipped_translation(scheme, "zh") == translation
    pairs = text_pairs(scheme, translation)
    own = {label.id for d in scheme.dimensions for label in d.labels}
    for text, into in pairs.items():
        left = [word for word in LATIN.findall(into) if not any(word in one for one in own)]
        assert not left, f"{text!r} is left in English: {into!r}"
    for text in (d.question for d in scheme.dimensions):
        assert NUMBER_OR_BRACE.findall(text) == NUMBER_OR_BRACE.findall(pairs[text])


@pytest.mark.parametrize("name", scheme_names())
def test_the_chinese_names_of_labels_are_understood_as_the_labels(name: str) -> None:
    for dimension in load_scheme(name).dimensions:
        for label, names in label_names(dimension).items():
            for spelled in names:
                found = resolve_label(dimension, spelled)
                expected = (label,) if dimension.measurement == "multi" else label
                assert found == (expected, True), f"{dimension.id}: {spelled}"


def test_one_label_is_called_the_same_in_both_versions_of_hipo() -> None:
    names: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for name in ("hipo", "hipo@1"):
        scheme = load_scheme(name)
        translation = shipped_translation(scheme, "zh")
        assert translation is not None
        for dimension in scheme.dimensions:
            for value in dimension.values:
                names[dimension.id, value].add(translation.label(dimension.id, value))
    assert all(len(found) == 1 and "" not in found for found in names.values())


def test_several_labels_may_be_separated_as_in_chinese() -> None:
    reasons = load_scheme("cobra").dimension("reasons")
    assert resolve_label(reasons, "逻辑、情感") == (("logic", "emotion"), True)


def test_a_name_of_another_dimension_is_no_label() -> None:
    assert resolve_label(load_scheme("hipo").dimension("veracity"), "承诺类") is None


def test_a_translation_that_lacks_a_step_and_a_label_names_both(tmp_path: Path) -> None:
    text = (SHIPPED / "zh" / "hipo.yaml").read_text(encoding="utf-8")
    text = text.replace("      Convince:\n", "      Convinced:\n")
    text = "".join(x for x in text.splitlines(keepends=True) if "一说出口事情就成立" not in x[:24])
    path = tmp_path / "hipo.zh.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_translation(path, load_scheme("hipo"))
    told = str(refused.value)
    assert "dimensions.intention.labels: found nothing for 'Convince'" in told
    assert "dimensions.intention.labels.Convinced" in told
    assert "dimensions.illocutionary.steps: found 4 texts, expected 5" in told


def test_a_translation_of_another_version_is_refused() -> None:
    with pytest.raises(InputError, match=r"scheme: found hipo@1, expected hipo@2"):
        read_translation(SHIPPED / "zh" / "hipo@1.yaml", load_scheme("hipo"))
