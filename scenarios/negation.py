"""Whether a sentence denies something: words of negation, by language."""

from __future__ import annotations

import re

from scenarios.wording import words

_WORDS = {
    "en": "no not never none nobody nothing neither nor cannot without nowhere hardly",
    "ar": "لا لم لن ليس ليست لست لسنا ليسوا ولا ولم ولن وليس وليست ولست فلا فلم فلن فليس أبدا أبداً بدون دون",
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
_NO_DENIAL = {
    language: re.compile(pattern)
    for language, pattern in {
        "ja": "すみません|すいません|申し訳(?:ない|なく|ありません|ございません)|かもしれ(?:ない|ません)|に(?:違い|ちがい)ない"
        "|なければ(?:なら|いけ)(?:ない|ません)|(?:じゃ|では)ない(?:です)?か|少な[いく]|危な[いく]",
        "ko": "잘못|수밖에 없|틀림없",
        "zh": "对不[起住]|對不[起住]|差不多|[不没沒][错錯](?!过|過)|不好意思|不[瞒瞞]|不[过過但仅僅光只单單论論断斷久少妨禁愧料时時然止]"
        "|不如(?!实|實)|不管(?=[怎是谁誰什有多您你])"
        "|不得不|不由得|不一[会會]|不知不[觉覺]|不[该該]|不[应應][该該当當]|[说說]不定|忍不住|怪不得|大不了|[免少]不了|了不起"
        "|[没沒不]想到|想不到|[没沒]料到|[没沒]准|[无無][论論疑非比]|[无無]意[中间間]|未(?:[来來免]|婚[妻夫])"
        r"|(\w)[不没沒]\1",
    }.items()
}
"""What holds such a part and denies nothing: an excuse, a link, 'right', a question with both answers."""


def is_negated(sentence: str, language: str = "en") -> bool:
    """Say whether a sentence holds a word of negation.

    Args:
        sentence: in that language.
        language: its code without a region; one that is not known here is read as English.
    """
    parts = _PARTS.get(language, ())
    if parts and language in _NO_DENIAL:
        sentence = _NO_DENIAL[language].sub(" ", sentence)
    if any(part in sentence for part in parts):
        return True
    negations = _NEGATIONS.get(language)
    if negations is None:
        if parts:
            return False
        negations = _NEGATIONS["en"]
    return any(word in negations or word.endswith("n't") for word in words(sentence))
