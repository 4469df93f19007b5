"""One analyser in front of every engine: text becomes the terms that are indexed and looked up."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from typing import Any

from personable.retrieval.stopwords import without_function_words

LONGEST = 64
"""Characters of a term; what is longer is an encoded blob, not a word."""

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

# Scripts written without spaces between words, and Korean, whose words carry their particles.
_DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_PIECE = re.compile(f"[{_DENSE}]+|[^{_DENSE}]+")
_IS_DENSE = re.compile(f"[{_DENSE}]")
# Accents, and the optional vowel points of Hebrew and Arabic; never the vowels of Indic scripts.
_ACCENT = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u065f\u0670]")


@cache
def _word() -> re.Pattern[str]:
    """Letters, digits and the marks that belong to them (which `\\w` would split Hindi and Thai words at)."""
    marks = "".join(chr(code) for code in range(0x300, 0x20F0) if unicodedata.category(chr(code))[0] == "M")
    letter = rf"(?:[^\W_]|[{marks}])"
    return re.compile(rf"[^\W_]{letter}*(?:['’]{letter}+)*")


_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _word().findall(unicodedata.normalize("NFKC", text).casefold())


class Analyser:
    """Terms of a text in `language` (ISO 639-1): Unicode words, compatibility forms unified, case folded, stemmed where
    Snowball knows the language, accents folded after stemming (the stemmer needs them, a hurried reader omits them).

    Chinese, Japanese, Korean, Thai and their like become single characters and pairs of neighbours. Apostrophes:
    English drops a possessive 's and closes up (don't, dont); other languages part there (l'acqua: l, acqua). Stop
    words are indexed (a list at indexing time would lose names made of them for good) and left out of queries.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._stems = _Stems(language)

    def terms(self, text: str) -> list[str]:
        """The terms in the order of the text, repeated as often as they stand there."""
        return self.joined(text).split()

    def joined(self, text: str) -> str:
        """The terms with single spaces between them: what a whitespace tokenizer gets."""
        return " ".join(map(self._stems.__getitem__, _words(text)))

    def content(self, text: str) -> list[str]:
        """The terms without those of function words, unless there are no others: what a query is about."""
        return " ".join(map(self._stems.__getitem__, without_function_words(_words(text), self.language))).split()


class _Stems(dict[str, str]):
    """Word → its terms, remembered: a collection has few distinct words, and stemming is the costly part."""

    def __init__(self, language: str, limit: int = 200_000) -> None:
        super().__init__()
        self._english = language == "en"
        self._limit = limit
        self._stem: Any = None
        if language in STEMMERS:
            import Stemmer

            self._stem = Stemmer.Stemmer(STEMMERS[language], 0).stemWord

    def __missing__(self, word: str) -> str:
        if _IS_DENSE.search(word):
            return " ".join(term for piece in _PIECE.findall(word) for term in self._piece(piece))
        found = " ".join(self._plain(word))
        if len(self) >= self._limit:
            self.clear()
        self[word] = found
        return found

    def _piece(self, piece: str) -> list[str]:
        if not _IS_DENSE.match(piece):
            return self._plain(piece)
        return [*piece, *(first + second for first, second in pairwise(piece))]

    def _plain(self, word: str) -> list[str]:
        word = word.replace("’", "'")
        parts = [word.removesuffix("'s").replace("'", "")] if self._english else word.split("'")
        return [self._one(part[:LONGEST]) for part in parts if part]

    def _one(self, part: str) -> str:
        stem = self._stem(part) if self._stem is not None else part
        if stem.isascii():
            return stem or part
        return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", stem))) or part
