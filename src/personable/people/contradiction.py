"""Whether a new statement contradicts an old one: rules for English and Italian, made to miss one rather than end one.

Two ways: both fill the same slot of a person (residence, job, age, …) with values that cannot both hold, or they say
the same thing with and without a negation. Nothing else counts: "I have a dog" and "I have a cat" both live.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from personable.people.slots import Claim, claim

_ADDS = re.compile(r"\b(?:also|too|as well|both|another|second|anche|pure|inoltre|altro|altra|second[oa])\b")
_MARKS = '.,;:!?…"“”()'

_REWRITES: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    language: tuple((re.compile(pattern), new) for pattern, new in rules)
    for language, rules in {
        "en": (
            (r"^(?:no|yes|well|actually|now|so)\b,? +", ""),
            (r"\bcan(?:not|'?t| not) stand\b", "not like"),
            (r"\bcan(?:not|'t)\b", "can not"),
            (r"\bwon't\b", "will not"),
            (r"n't\b", " not"),
            (r"'m\b", " am"),
            (r"'re\b", " are"),
            (r"'ve\b", " have"),
            (r"\b(?:dislikes?|hates?|detests?|loathes?)\b", "not like"),
            (r"\b(?:loves?|enjoys?|adores?|likes)\b", "like"),
            (r"\b(?:(?:have )?(?:stopped|quit|given up)|gave up) (?=\w+ing\b)", "not "),
            (r"\b(?:very|so) much\b|\ba lot\b|\bat all\b|\bany ?more\b", " "),
        ),
        "it": (
            (r"\b(?:odio|detesto)\b", "non mi piace"),
            (r"\b(?:amo|adoro)\b", "mi piace"),
            (r"\bpiacciono\b", "piace"),
            (r"\bho smesso di\b", "non"),
            (r"\bper niente\b|\bper nulla\b", " "),
            (r"\b(l|un|dell|d|all|nell)'", r"\1 "),
        ),
    }.items()
}
_NEGATIONS = {
    "en": frozenset("not never no neither".split()),
    "it": frozenset("non nessun nessuno nessuna".split()),
}
_EMPTY = {
    "en": frozenset("a an the any some do does longer still now actually really currently".split()),
    "it": frozenset(
        "il lo la l i gli le un uno una dei degli delle del dello della dell più mai affatto ora adesso ancora "
        "davvero molto tanto".split()
    ),
}


_DENIES = re.compile(
    r"\b(?:no|not|never|neither|cannot|dislikes?|hates?|detests?|loathes?|stopped|quit|gave up|given up|non|"
    r"nessun[oa]?|odio|detesto|smesso)\b|n['’]t\b"
)
_SPREAD = 60
"""Two texts that only a negation tells apart do not differ by more characters: what does is not looked at closely."""


def contradicts(new: str, old: str) -> bool:
    """Whether the statement `new` cannot hold together with `old`, which is assumed to have been said before.

    An old statement that says more than the contradicted thing ("I am 30 weeks pregnant and have diabetes") is left
    alone: ending it would lose the rest.
    """
    return contradicted(new, [old])[0]


def contradicted(new: str, olds: Iterable[str]) -> list[bool]:
    """For each of `olds` whether `new` contradicts it; faster than one by one."""
    claimed = None if _ADDS.search(new.casefold()) else claim(new)
    said = {language: _predicate(new, language) for language in _REWRITES}
    denies = _DENIES.search(new.casefold()) is not None

    def clash(old: str) -> bool:
        if claimed is not None and _other_value(claimed, claim(old)):
            return True
        if abs(len(new) - len(old)) > _SPREAD or not (denies or _DENIES.search(old.casefold())):
            return False
        return any(_negates(said[language], _predicate(old, language)) for language in said)

    return [clash(old) for old in olds]


def _other_value(said: Claim, held: Claim | None) -> bool:
    return held is not None and held.whole and said.slot == held.slot and _exclude(said, held)


def _exclude(said: Claim, held: Claim) -> bool:
    match said.slot:
        case "marital status" | "diet":
            return frozenset((said.value, held.value)) in _EXCLUSIVE
        case "pregnancy":
            numbers = said.value.isdigit() and held.value.isdigit()
            return said.value != held.value and (numbers or "none" in (said.value, held.value))
        case "residence":
            # Rome lies in Italy: a town and a country may both be true, unless one moved to the country.
            comparable = said.country == held.country or (said.country and said.moved)
            return comparable and _differ(said.value, held.value)
        case _:
            return _differ(said.value, held.value)


_EXCLUSIVE = frozenset(
    frozenset(pair.split("-"))
    for pair in (
        "married-single married-divorced married-widowed married-engaged single-engaged "
        "vegan-vegetarian vegan-pescatarian vegan-omnivore vegan-fish vegan-meat vegetarian-pescatarian "
        "vegetarian-omnivore vegetarian-fish vegetarian-meat pescatarian-omnivore pescatarian-meat"
    ).split()
)


def _differ(one: str, other: str) -> bool:
    """Whether neither value is only a shorter form of the other: "Ana" and "Ana Bianchi" do not differ."""
    first, second = set(one.split()), set(other.split())
    return not (first <= second or second <= first)


def _negates(new: tuple[tuple[str, ...], bool], old: tuple[tuple[str, ...], bool]) -> bool:
    (said, denied), (held, was_denied) = new, old
    return denied != was_denied and said == held and any(len(word) > 2 for word in said)


def _predicate(text: str, language: str) -> tuple[tuple[str, ...], bool]:
    """The words of `text` that carry its meaning, stemmed, without negations; and whether there was a negation."""
    plain = " ".join(text.casefold().replace("’", "'").split())
    for pattern, replacement in _REWRITES[language]:
        plain = pattern.sub(replacement, plain)
    if "not only" in plain or "non solo" in plain:
        return (plain,), False
    # Signs inside and after a word stay: C is not C++.
    said = [word for word in (piece.strip(_MARKS) for piece in plain.split()) if word]
    negations, empty = _NEGATIONS[language], _EMPTY[language]
    kept = (word for word in said if word not in negations and word not in empty)
    return tuple(map(_stemmer(language).stemWord, kept)), any(word in negations for word in said)


@cache
def _stemmer(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer({"en": "english", "it": "italian"}[language])
