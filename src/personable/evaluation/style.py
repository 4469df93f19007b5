"""Metrics of how texts are written, by sacreBLEU and textstat: likeness of two systems, and readability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from personable.errors import MissingExtraError, UsageError
from personable.evaluation.metrics import finite


def bleu2(outputs: Sequence[str], others: Sequence[str]) -> float:
    """Corpus BLEU with n-grams up to 2 (0 to 100) of `outputs` against `others`: how alike two systems write.

    Papineni et al. 2002, computed by sacreBLEU (Post 2018: 13a tokens, case kept, exponential smoothing). PersonaRAG
    section 5.3 compares agents so. Not symmetric. Raises UsageError unless both hold as many texts, at least one.
    """
    if not outputs or len(outputs) != len(others):
        raise UsageError(f"BLEU needs as many texts on both sides: got {len(outputs)} and {len(others)}")
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise MissingExtraError("BLEU scores", "eval") from error
    score = BLEU(max_ngram_order=2, force=True).corpus_score(list(outputs), [list(others)]).score
    return finite(float(score), "BLEU-2")


def sentence_length(text: str) -> float | None:
    """Mean words a sentence, as textstat counts them; None for a text without words."""
    textstat = _textstat()
    if not any(character.isalnum() for character in text):
        return None
    return finite(float(textstat.words_per_sentence(text)), "sentence length")


def syllables(text: str) -> float | None:
    """Mean syllables a word, by textstat (CMU pronouncing dictionary, hyphenation beyond it); None without words.

    Meaningful for English.
    """
    textstat = _textstat()
    count = textstat.lexicon_count(text)
    if not count or not any(character.isalnum() for character in text):
        return None
    return finite(textstat.syllable_count(text) / count, "syllables a word")


def _textstat() -> Any:
    try:
        import textstat
    except ImportError as error:
        raise MissingExtraError("Readability figures", "eval") from error
    return textstat
