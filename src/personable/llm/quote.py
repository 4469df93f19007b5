"""The built-in answerer: the sentences or clauses of the given passages that fit a question best, word for word.

Every name, date, number and word of the passages is a candidate answer; a logistic model over named evidence says how
likely each is, another how likely each sentence is to answer, and the quotations are chosen to cover the most under a
limit of words. Nothing is written that does not stand in a passage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from personable.llm.answer_type import AnswerType
from personable.llm.quote_evidence import (
    Clue,
    Features,
    clues,
    inverse_frequency,
    mention_features,
    sentence_features,
)
from personable.llm.quote_model import Logistic, Model, fitted
from personable.llm.quote_pack import Piece, pack
from personable.llm.quote_reading import Asked, Reader, Sentence
from personable.text import words
from personable.types import Passage, Value

Similar = Callable[[str, Sequence[str]], NDArray[np.float32]]
_MOST_SENTENCES = 8
_MOST_MENTIONS = 24
_NAME_WORDS = 3  # what is longer and has no stop may be a statement all the same


class Quoted(Value):
    """`text` is `passages[passage].text[start:end]`; `score` (0 to 1) estimates that its sentence answers."""

    text: str
    passage: int
    start: int
    end: int
    score: float


class Quotation(Value):
    """Quotations, best first. `found` is False when nothing fits well enough to be called an answer.

    `score` is that of the best quotation, 0 without one.
    """

    sentences: list[Quoted]
    answer_type: str
    found: bool
    score: float


class Evidence(NamedTuple):
    """What is known about a question and its passages: one entry of features a sentence and a mention."""

    asked: Asked
    sentences: list[Sentence]
    sentence_features: list[Features]
    clues: list[Clue]
    mention_features: list[Features]


def quote(
    question: str,
    passages: Sequence[Passage],
    *,
    similar: Similar | None,
    max_words: int = 40,
    weights: Sequence[float] | None = None,
    language: str = "en",
) -> Quotation:
    """Answer `question` with at most `max_words` words quoted from `passages`, best first.

    `similar(question, texts)` gives cosine similarities (None: lexical evidence only); it is called with the same short
    texts for the question and for the class of its answer, so it pays to remember vectors. `weights[i]` multiplies the
    odds of passage i (1.0 is neutral, 0 silences it). Deterministic. Raises ValueError for a negative weight, weights
    that do not match `passages`, or `max_words` below 1.
    """
    factors = _factors(weights, len(passages))
    if max_words < 1:
        raise ValueError(f"max_words is {max_words}: at least one word is needed to quote anything")
    heard = [
        passage if factor > 0 else Passage(id=passage.id, text="")
        for passage, factor in zip(passages, factors, strict=True)
    ]
    evidence = gather(question, heard, similar, language)
    return answer(evidence, fitted(similar is not None), max_words, np.log(np.maximum(factors, 1e-9)))


def answer(evidence: Evidence, model: Model, max_words: int, shift: NDArray[np.float64] | None = None) -> Quotation:
    """Quote from evidence; `shift[i]` is added to the log odds of passage i."""
    of_sentence = [one.passage for one in evidence.sentences]
    of_mention = [of_sentence[clue.sentence] for clue in evidence.clues]
    shift = np.zeros(1 + max(of_sentence, default=0)) if shift is None else shift
    chances = mention_chances(evidence, model.mention, shift[of_mention])
    named = with_best_mention(evidence, chances)
    relevance = _probability(model.sentence.logits(named) + shift[of_sentence])
    kind = evidence.asked.kind
    pieces = pack(evidence.sentences, relevance, evidence.clues, chances, max_words, kind.short)
    quoted = [_quoted(piece, evidence.sentences[piece.sentence], relevance) for piece in pieces]
    quoted.sort(key=lambda one: -one.score)
    best = quoted[0].score if quoted else 0.0
    return Quotation(sentences=quoted, answer_type=kind.kind, found=best >= model.threshold, score=best)


def mention_chances(
    evidence: Evidence, model: Logistic, shift: NDArray[np.float64] | float = 0.0
) -> NDArray[np.float64]:
    """How likely each mention is to be the answer, shape (len(clues),); 0 for what the question says itself."""
    novel = np.array([features["novel"] > 0 for features in evidence.mention_features], dtype=bool)
    chances: NDArray[np.float64] = _probability(model.logits(evidence.mention_features) + shift) * novel
    return chances


def with_best_mention(evidence: Evidence, chances: NDArray[np.float64]) -> list[Features]:
    """The sentence features, joined by the chance of the best mention in the sentence.

    Where a sentence says just what was asked (see `_tells`), it is itself the answer, with a chance of 1.
    """
    asked = {"", *evidence.asked.stems}
    best = [float(asked.issuperset(sentence.stems)) for sentence in evidence.sentences]
    for clue, chance in zip(evidence.clues, chances.tolist(), strict=True):
        best[clue.sentence] = max(best[clue.sentence], chance)
    return [named | {"best_mention": value} for named, value in zip(evidence.sentence_features, best, strict=True)]


def gather(question: str, passages: Sequence[Passage], similar: Similar | None, language: str = "en") -> Evidence:
    """Read and name the evidence; with `similar`, only of the lexically best sentences and mentions."""
    reader = Reader(language)
    kind, stems, head = reader.question(question)
    sentences = [one for one in reader.passages(passages) if _tells(one, question, stems, kind)]
    asked = Asked(kind, stems, inverse_frequency(stems, sentences, reader.background), head)
    dense = None
    if similar is not None and sentences:
        sentences = _best(asked, sentences)
        dense = similar(question, [sentence.text for sentence in sentences])
    found = clues(sentences)
    likeness: dict[str, NDArray[np.float32]] = {}
    if similar is not None:
        found = _likely(asked, sentences, found, reader.background)
    if similar is not None and found:
        texts = [clue.mention.text for clue in found]
        likeness = {"like_type": similar(kind.phrase, texts), "like_question": similar(question, texts)}
    return Evidence(
        asked,
        sentences,
        sentence_features(asked, sentences, dense),
        found,
        mention_features(asked, sentences, found, reader.background, likeness),
    )


def _tells(sentence: Sentence, question: str, asked: Sequence[str], kind: AnswerType) -> bool:
    """Whether it is no question itself and says something new, or else just what was asked about.

    That is a statement which affirms or denies all of a yes-no question, or is the question word for word; a bare name
    or title is none.
    """
    if sentence.text.endswith(("?", "？")):
        return False
    stems = set(sentence.stems) - {""}
    if not stems <= set(asked):
        return True
    stated, said = sentence.text.rstrip('"”’)').endswith((".", "!", "。")), words(sentence.text)
    if said == words(question):
        return stated or len(said) > _NAME_WORDS
    return stated and kind.kind == "yesno" and stems == set(asked) != set()


def _best(asked: Asked, sentences: list[Sentence]) -> list[Sentence]:
    if len(sentences) <= _MOST_SENTENCES:
        return sentences
    logits = fitted(False).sentence.logits(sentence_features(asked, sentences, None))
    kept = np.sort(np.argsort(-logits, kind="stable")[:_MOST_SENTENCES])
    return [sentences[i] for i in kept]


def _likely(
    asked: Asked, sentences: Sequence[Sentence], found: list[Clue], background: Mapping[str, float]
) -> list[Clue]:
    """The mentions that are lexically likeliest: embedding all of them would take too long."""
    features = mention_features(asked, sentences, found, background, {})
    logits = fitted(False).mention.logits(features)
    logits[[named["novel"] == 0 for named in features]] = -np.inf
    kept = np.sort(np.argsort(-logits, kind="stable")[:_MOST_MENTIONS])
    return [found[i] for i in kept if np.isfinite(logits[i])]


def _factors(weights: Sequence[float] | None, count: int) -> NDArray[np.float64]:
    factors = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if factors.shape != (count,):
        raise ValueError(f"{factors.size} weights for {count} passages: give one weight a passage")
    if not (np.isfinite(factors).all() and (factors >= 0).all()):
        raise ValueError(f"passage weights must be finite and not negative: {factors.tolist()}")
    return factors


def _probability(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-logits))


def _quoted(piece: Piece, sentence: Sentence, relevance: NDArray[np.float64]) -> Quoted:
    start, end, *_ = piece.span
    return Quoted(
        text=sentence.text[start:end],
        passage=sentence.passage,
        start=sentence.start + start,
        end=sentence.start + end,
        score=float(relevance[piece.sentence]),
    )
