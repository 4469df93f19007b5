"""Named evidence that a sentence, or a mention in it, answers a question. Each function gives features by name."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from personable.llm.quote_mention import Mention
from personable.llm.quote_reading import Asked, Sentence

Features = dict[str, float]
_RAREST = 1e-4
_PRONOUNS = frozenset(["he", "she", "it", "they", "his", "her", "its", "their", "this"])
_COPULA = frozenset(["is", "are", "was", "were", "be", "been", "became", "called", "named", "known"])
_PREPOSITIONS = frozenset(["in", "by", "at", "of", "from", "to", "as", "for", "on", "with"])


class Clue(NamedTuple):
    """A mention in sentence number `sentence`; mentions with the same `key` are the same answer."""

    sentence: int
    mention: Mention
    key: tuple[str, ...]


def clues(sentences: Sequence[Sentence]) -> list[Clue]:
    """All mentions of all sentences."""
    found = []
    for number, sentence in enumerate(sentences):
        for mention in sentence.mentions:
            stems = tuple(stem for stem in sentence.stems[mention.first : mention.last + 1] if stem)
            found.append(Clue(number, mention, stems or (mention.text.casefold(),)))
    return found


def sentence_features(asked: Asked, sentences: Sequence[Sentence], dense: NDArray[np.float32] | None) -> list[Features]:
    """Features of each sentence; `dense[i]` is the cosine of the question and sentence i."""
    whole: dict[int, set[str]] = defaultdict(set)
    for sentence in sentences:
        whole[sentence.passage].update(sentence.stems)
    features = [_sentence(asked, sentence, whole[sentence.passage]) for sentence in sentences]
    if dense is not None and len(dense):
        top = float(dense.max())
        for one, value in zip(features, dense.tolist(), strict=True):
            one |= {"dense": value, "dense_gap": top - value, "dense_top": float(top - value < 1e-6)}
    return features


def _sentence(asked: Asked, sentence: Sentence, whole: set[str]) -> Features:
    own = set(sentence.stems)
    coverage = _covered(asked, own)
    stated = [stem for stem in sentence.stems if stem in asked.weight]
    pairs = set(pairwise(asked.stems))
    return {
        "coverage": coverage,
        "coverage_squared": coverage * coverage,
        "carried": _covered(asked, own | sentence.context) - coverage,
        "passage_coverage": _covered(asked, whole),
        "pairs": len(pairs & set(pairwise(stated))) / max(len(pairs), 1),
        "rank": 1 / (1 + sentence.passage),
        "opens_passage": float(sentence.place == 0),
        "pronoun": float(bool(sentence.words) and sentence.words[0].text.casefold() in _PRONOUNS),
        "short": float(len(sentence.words) < 6),
        "log_length": math.log1p(len(sentence.words)),
        "fragment": float(not sentence.text.rstrip('"”’) ').endswith((".", "!", "?", "。"))),
        "states_head": float(asked.head in own),
    }


def _covered(asked: Asked, stems: set[str] | frozenset[str]) -> float:
    total = sum(asked.weight.values()) or 1.0
    return sum(weight for stem, weight in asked.weight.items() if stem in stems) / total


def mention_features(
    asked: Asked,
    sentences: Sequence[Sentence],
    found: Sequence[Clue],
    background: Mapping[str, float],
    likeness: Mapping[str, NDArray[np.float32]],
) -> list[Features]:
    """Features of each mention; `likeness[name][i]` is a cosine of mention i, under that name."""
    places: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for clue in found:
        places[clue.key].add(clue.sentence)
    features = []
    for clue in found:
        one = _surroundings(asked, sentences[clue.sentence], clue.mention)
        one["rare"] = min(-math.log(background.get(stem, _RAREST)) for stem in clue.key)
        if clue.mention.kind == "word":
            one["word_rare"] = one["rare"]
        one["frequency"] = math.log(len(places[clue.key]))
        features.append(one)
    for name, values in likeness.items():
        spread = (values - values.mean()) / (values.std() + 1e-6) if len(values) else values
        for one, value, relative in zip(features, values.tolist(), spread.tolist(), strict=True):
            one |= {name: value, f"{name}_relative": relative}
            if name == "like_type":
                one[f"{asked.kind.kind}/{name}"] = value
    return features


def _surroundings(asked: Asked, sentence: Sentence, mention: Mention) -> Features:
    near: dict[str, float] = {}
    for i, stem in enumerate(sentence.stems):
        if stem in asked.weight:
            gap = max(mention.first - i, i - mention.last, 0)
            near[stem] = max(near.get(stem, 0.0), 1 / (1 + gap / 4))
    inside = set(sentence.stems[mention.first : mention.last + 1]) - {""}
    words = [word.text.casefold() for word in sentence.words]
    before = words[max(mention.first - 2, 0) : mention.first]
    after = words[mention.last + 1 : mention.last + 2]
    kind = asked.kind.kind
    total = sum(asked.weight.values()) or 1.0
    features = {
        "near": sum(asked.weight[stem] * value for stem, value in near.items()) / total,
        "near_head": near.get(asked.head, 0.0),
        "novel": len(inside - asked.weight.keys()) / max(len(inside), 1),
        "comma_before": float(sentence.text[: mention.start].rstrip().endswith(",")),
        "comma_after": float(sentence.text[mention.end :].lstrip().startswith(",")),
        "bracket": float(sentence.text[: mention.start].endswith("(")),
        "copula_before": float(bool(_COPULA.intersection(before))),
        "copula_after": float(bool(_COPULA.intersection(after))),
        "opens": float(mention.first == 0),
        "place_in_sentence": mention.first / len(words),
        f"{kind}/{mention.kind}": 1.0,
    }
    if mention.kind == "name":
        features[f"{kind}/name_words_{min(mention.last - mention.first + 1, 3)}"] = 1.0
    if before and before[-1] in _PREPOSITIONS:
        features[f"{kind}/after_{before[-1]}"] = 1.0
    return features


def inverse_frequency(
    stems: Sequence[str], sentences: Sequence[Sentence], background: Mapping[str, float]
) -> dict[str, float]:
    """Weight of each stem: rare in the language and rare among the sentences at hand counts more."""
    counts = Counter(stem for sentence in sentences for stem in set(sentence.stems))
    return {
        stem: 0.5 * math.log(1 + len(sentences) / (0.5 + counts[stem])) - 0.5 * math.log(background.get(stem, _RAREST))
        for stem in stems
    }
