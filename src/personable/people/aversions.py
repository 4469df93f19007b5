"""What a statement turns against ("I am allergic to nuts", "I hate lamps"): rules for English and Italian.

A search that took such a statement by its words would bring exactly what the person does not want.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LACKS = r"(?!(?:do|does|did)(?:n['’]?t| not) have\b)(?!\S+(?: not)? get enough\b)"
"""What only tells that something is not there yet, or is wanted all the more."""
_NOT = rf"(?:{_LACKS}(?:can(?:not|['’]?t| not)|(?:do|does|did|will|would|could|should)(?:n['’]?t| not)|won['’]t|never))"
_VERB = (
    r"(?:(?:ever|really|even|want to|like to|need to|care to|wish to|want|care for|care|need|like|love|enjoy|eat|drink|"
    r"use|take|wear|buy|have|stand|bear|tolerate|show|see|recommend|offer|give|get|me|us|any|more|anything|with)\s+)+"
)
_END = r"(?:but|because|although|though|while|except|since|(?:and|or) (?:i|we)|ma|perché|tranne|mentre)"
_TO = r"a(?:gli|ll[oae]|ll['’]|[li])?(?=\s|(?<=['’]))"
_ITEM = (
    r"(?!(?:an?|the|i|we|you|it|that|this|so|then|just|only|also|but|please|show|give|find|get|make|love|like|want|prefer"
    r"|need|enjoy|something|anything|everything|is|are|do|can|will|would|ma|mi|che)\b)[^\W\d_][\w'’-]*"
    r"(?: (?!(?:and|or|nor|e|o|né)\b)[^\W\d_][\w'’-]*)?"
)
_MORE = rf"(?:\s*,\s*{_ITEM})*?\s*,?\s*\b(?:and|or|nor|e|o|né) {_ITEM}(?:,? please)?(?=\s*(?:[.;!?()]|$))"
"""The rest of a list that ends its sentence: ", almonds and peanuts"."""
_CUE = re.compile(
    rf"\b(?:allergic to|allergy to|intolerant (?:to|of)|intolerance (?:to|of)|{_NOT}\s+{_VERB}"
    r"|(?:hates?|dislikes?|detests?|loathes?|avoids?|avoiding)\s+|(?:any|every)thing (?:but|except)"
    r"|(?:not|no) (?:a |an )?(?:fan of|fond of|keen on|interested in|into)|(?:sick|tired) of|no more|nothing with"
    r"|(?:have|has|had) no (?:interest in|use for|taste for|wish for|need (?:for|of))"
    rf"|(?<!have )(?<!has )(?<!had )(?<!got )no(?=\s)|(?:allergic[oaie]|intollerant[ei]) {_TO}"
    r"|odio|detesto|evito|niente|nessun[oa]?|non mi piac(?:e|ciono)"
    r"|non (?:posso |voglio |devo )?(?:mangi\w+|bev\w+|bere|us\w+|compr\w+|vogli\w+|sopport\w+))"
    rf"(?P<what>(?:(?!\b{_END}\b)[^.,;:!?()])*(?:(?=,){_MORE})?)",
    re.IGNORECASE,
)
_INTOLERANT = re.compile(
    r"\b(?P<what>(?!(?:an?|the|my|have|has|food)\b)[\w-]+) (?:allergy|intolerance|allergies)\b", re.IGNORECASE
)
_AND = re.compile(r"\s*(?:,|/|&|\b(?:and|or|nor|e|o|né|please)\b)\s*", re.IGNORECASE)
_TURNS = re.compile(r"\b(?:not|non) (?:only|solo|just)\b", re.IGNORECASE)


class Heard(NamedTuple):
    """A statement taken apart: the words that speak for something, and the things that it turns against."""

    wanted: str
    unwanted: tuple[str, ...]


def hear(statement: str) -> Heard:
    """Take a statement apart. What no rule knows speaks for what it names, as any text does."""
    if _TURNS.search(statement):
        return Heard(statement, ())
    rest, things = [], []
    end = 0
    for match in sorted([*_CUE.finditer(statement), *_INTOLERANT.finditer(statement)], key=lambda one: one.start()):
        if match.start() < end:
            continue
        things += _AND.split(match["what"])
        rest.append(statement[end : match.start()])
        end = match.end()
    rest.append(statement[end:])
    return Heard("".join(rest).strip() if things else statement, tuple(filter(None, map(str.strip, things))))
