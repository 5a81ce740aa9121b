"""Which script a text is in."""

from __future__ import annotations

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from prompts.languages import _NAMES
from scenarios.scripts import SCRIPTS, script_share

LATIN = (
    "af an az br bs bcl ca crh cs cy da de en eo es et eu fi fo fr fuv fy ga gcf gcr gd gl gug "
    "guw ace ext ha hr ht hu id ig is it jv kab kik ku la lb lg lij ln lt ltg lv mg ms mt nb nl "
    "nn no nso oc om pcm pl pt qu ro rw sdh se sk sl sn so sq st sv sw tl tr uzs vec vi vo wa "
    "xh yo za zu zxx "
)


def test_the_share_of_letters_of_a_script_is_measured():
    assert script_share("abc абв", ["en"]) == 0.5
    assert script_share("abc абв", ["en", "ru-RU"]) == 1.0
    assert script_share("日本のテ", ["ja"]) == 1.0
    assert script_share("12.5", ["en"]) == 1.0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("你今日去咗邊度呀", "yue"),
        ("મેં તે જોયું", "gu"),
        ("ਮੈਂ ਦੇਖਿਆ", "pa"),
        ("Мен көрдім", "kk"),
        ("Я бачыў яе", "be"),
        ("ຂ້ອຍບໍ່ຮູ້", "lo"),
        ("ខ្ញុំមិនដឹងទេ", "km"),
        ("මම දන්නේ නැහැ", "si"),
        ("زه نه پوهېږم", "ps"),
    ],
)
def test_a_text_is_in_the_script_of_its_language(text, language):
    assert script_share(text, [language]) == 1.0


def test_a_language_that_is_named_and_guessed_is_in_latin_letters_or_has_its_scripts():
    """Whoever adds a language says which letters it has, or its texts are all refused."""
    known = set(LanguageIdentifier.from_model_file(MODEL_FILE).labels) | set(_NAMES)
    assert known - set(LATIN.split()) - set(SCRIPTS) == set()


def test_the_name_of_a_product_leaves_a_chinese_sentence_chinese():
    assert script_share("OK，我用WeChat发给您。", ["zh"]) > 0.6
    assert script_share("I told you already, 对吧", ["zh"]) < 0.5
