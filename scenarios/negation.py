"""Whether a sentence denies something: words of negation, by language."""

from __future__ import annotations

from scenarios.wording import words

_WORDS = {
    "en": "no not never none nobody nothing neither nor cannot without nowhere hardly",
    "ar": "لا لم لن ليس ليست لست ليسوا أبدا أبداً بدون دون",
    "da": "ikke ingen intet aldrig nej hverken uden",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand niemanden niemandem nirgends "
    "nirgendwo weder noch nein ohne kaum",
    "es": "no nunca jamás nada nadie ningún ninguno ninguna ningunos ningunas ni tampoco sin",
    "fi": "ei en et emme ette eivät eikä ilman",
    "fr": "ne pas jamais rien aucun aucune aucunement ni nul nulle non sans",
    "hi": "नहीं नही न ना मत बिना",
    "it": "non mai niente nulla nessun nessuno nessuna né neppure neanche no senza",
    "ko": "안",
    "nl": "niet geen nooit niets niemand nergens noch nee zonder",
    "no": "ikke ingen intet aldri nei verken uten",
    "pl": "nie nigdy nic nikt nikogo niczego żaden żadna żadne ani bez",
    "pt": "não nunca jamais nada ninguém nenhum nenhuma nem tampouco sem",
    "ru": "не ни нет никогда ничего ничто никто никого нигде без",
    "sv": "inte ej ingen inget inga aldrig nej varken utan",
    "tr": "değil değildi hayır hiç hiçbir yok yoktu asla",  # noqa: RUF001 - Turkish has two of them
    "uk": "не ні ані немає ніколи нічого ніщо ніхто нікого ніде без",
}
_NEGATIONS = {language: frozenset(text.split()) for language, text in _WORDS.items()}
_PARTS = {
    "ja": ("ない", "なかっ", "なく", "ません", "いいえ"),
    "ko": ("않", "못", "없", "아니"),
    "zh": ("不", "没", "沒", "未", "无", "無", "并非", "並非", "绝非", "絕非"),
}
"""What a word of these languages holds where it denies: they write no spaces, or bend the word."""


def is_negated(sentence: str, language: str = "en") -> bool:
    """Say whether a sentence holds a word of negation.

    Args:
        sentence: in that language.
        language: its code without a region; one that is not known here is read as English.
    """
    parts = _PARTS.get(language, ())
    if any(part in sentence for part in parts):
        return True
    negations = _NEGATIONS.get(language)
    if negations is None:
        if parts:
            return False
        negations = _NEGATIONS["en"]
    return any(word in negations or word.endswith("n't") for word in words(sentence))
