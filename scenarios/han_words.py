"""Which pairs of Chinese signs carry content, where no space tells words from each other."""

from __future__ import annotations

import re

_FUNCTION_SIGNS = frozenset(
    "的了着著过過吗嗎呢吧啊呀嘛哦哎唉嗯是在有和与與跟就都也还還又再很太更最不没沒我你您他她它们們咱这這那哪谁誰什么麼怎把被让讓"
    "给給从從于於之此些个個位只上下里裡向往得地任何零〇一二两兩三四五六七八九十百千万萬亿億几幾第"
)
"""Signs of particles, pronouns, measures and numbers: a pair with one of them is no word, or says little."""
_FUNCTION_PAIRS_TEXT = (
    "因为 因為 所以 但是 可是 如果 虽然 雖然 自己 已经 已經 可以 时候 時候 知道 觉得 覺得 应该 應該 现在 現在 "
    "然后 然後 其实 其實 真的 当然 當然 可能 事情 对于 關於 关于 为了 為了 或者 而且 晚上 早上 今天 昨天 明天"
)
_FUNCTION_PAIRS = frozenset(_FUNCTION_PAIRS_TEXT.split())
_HAN = re.compile("[\u3400-\u9fff]")
_KANA = re.compile("[\u3041-\u30ff]")


def is_chinese(text: str) -> bool:
    """Return whether a text has Chinese signs and none that Japanese alone has."""
    return _HAN.search(text) is not None and _KANA.search(text) is None


def carries_content(pair: str) -> bool:
    """Return whether a pair of Chinese signs can be a word that carries content."""
    return pair not in _FUNCTION_PAIRS and not _FUNCTION_SIGNS.intersection(pair)
