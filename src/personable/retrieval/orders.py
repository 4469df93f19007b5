"""Orders to whoever ranks, which sellers put into the texts of items, and the same texts without them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from unicodedata import category, normalize

from personable.text import sentences

_RANK = "(?:re-?rank|rank|rate|score|recommend|suggest|choose|pick|select)"
_PUT = "(?:place|put|list|show|keep|move|sort|order)"
_MUST = "(?:must|should|shall|has to|needs to|is to|ought to) (?:always )?(?:be|come)"
_ME = r"(?:me|us|(?:this|my|our) (?:\w+ ){0,2}(?:item|product|listing|entry|candidate|offer|one))"
_FIRST = (
    "(?:(?:as|at|in|on|to|the|your|its|very) )*"
    r"(?:first|1st|(?:number|no\.?|rank|place|position) (?:one|1)|\#\s?1|top|highest|best|above(?: all| any| the)*)"
)
_LIST = "(?:list|ranking|result|recommendation|order|candidate|item|product|other|answer)s?"
# What may follow a place: else it is the first word of something else, as in "choose this top for summer".
_END = (
    f"(?: (?:{_LIST}|place|position|spot|rank|choice|score|rating))?"
    r"(?=\W*$|[.!?,;:)\]\"'”’…–—-]| [–-] | (?:and|or|please|always|every|no matter|before|above|over|among)\b"
    rf"| (?:of|in|on|for) (?:(?:the|your|any|every|all|each|other) )*(?:{_LIST}|users?|customer|query|person)\b)"
)
_NOT_I = r"(?<!\bI\s)(?<!\bwe\s)(?<!would\s)(?<!['’]d\s)"
"""A reviewer who says "I rate this the highest" orders nothing."""
_NAMED = r"(?:this|my|our) (?:\w+ ){1,2}"
_PLACE = r"(?:(?:as|at|in|on|to|the) )*(?:number (?:one|1)|\#\s?1|(?:first|top) (?:place|position|spot|rank))"
"""A place in a ranking, whatever thing is put there."""
_RULES = "(?:instructions?|rules?|prompts?|guidelines)"
_NOT_WE = "".join(
    rf"(?<!\b{one})".replace(" ", r"\s")
    for one in ("je ", "je vous ", "nous ", "nous vous ", "j['’]", "ai ", "avons ", "ich ", "wir ")
)
"""The same in French and German; in Italian and Spanish the verb's end says it: metto, mettiamo, olvidamos."""
_ELSEWHERE = (  # French, Italian, German and Spanish, without accents, as texts are matched
    rf"{_NOT_WE}\b(?:class|plac|met|rang|list|affich|recommand|propos|not|choisi)\w*"
    r"(?:[-‐ ](?:moi|nous)| (?:ce|mon|notre) produit| (?:cet|mon|notre) article) (?:toujours )?"
    r"(?:en (?:premier(?! (?:plan|lieu|temps))|tete)|(?:en|a la) premiere (?:place|position)|au premier rang"
    r"|numero (?:un|1))\b",
    r"\b(?:mett|classific|posizion|piazz|elenc|consigl|raccomand|scegl|valut|mostr)\w*?"
    r"(?:mi|ci|(?<!o) quest[oa](?: (?:prodotto|articolo|oggetto))?) (?:sempre )?"
    r"(?:al primo posto|(?:(?:per|come) )?prim[oa](?=\W*$|[.!?])|in prima posizione|(?:al )?numero uno)\b",
    rf"{_NOT_WE}\b(?:setz|stell|reih|platzier|bewert|empfehl|empfiehl|list|nenn|zeig|wahl|ordn)\w*(?: sie)? "
    r"(?:mich|uns|dies\w* \w+|dies) (?:(?:immer|bitte|als|auf|an|am|die|den|der) )*"
    r"(?:erste[rn]? (?:stelle|platz|rang)|erste[rs]|platz (?:eins|1)|nummer (?:eins|1)|spitze|zuerst|hochsten)\b",
    r"\b(?:(?:pon|coloc|clasific|situ|recomiend|elig|muestr|list|orden)\w*?(?:me|nos)|"
    r"(?:pon|poned|ponga|coloca|clasifica|situa|recomienda|elige) est[ea] (?:producto|articulo)) (?:siempre )?"
    r"(?:en (?:el )?primer (?:lugar|puesto)|en primera posicion|(?:el |la |de |como )?primer[oa](?=\W*$|[.!?])"
    r"|(?:el )?numero uno)\b",
    rf"{_NOT_WE}\b(?:ignor|oubli|dimentic|vergiss|vergess|olvid)\w*(?<!o)(?<!mos)(?: sie)? "
    r"(?:(?:toutes|tutte|alle|todas) )?(?:(?:les|le|las|die) )?"
    r"(?:(?:instructions|consignes) (?:precedentes|ci-dessus)|istruzioni precedenti|"
    r"(?:vorherigen|bisherigen|obigen) (?:anweisungen|regeln)|instrucciones anteriores)\b",
)
_PATTERN = "|".join(
    (
        rf"\b(?:{_RANK}|{_PUT}) {_ME},? {_FIRST}{_END}",
        rf"{_NOT_I}\b(?:{_RANK}|{_PUT}) {_NAMED}{_PLACE}{_END}",
        rf"{_NOT_I}\b{_RANK} (?:this|it) {_FIRST}{_END}",
        rf"\b{_PUT} (?:this|it)(?: \w+)? (?:at|to|on) (?:the )?(?:very )?top of (?:\w+ )?{_LIST}\b",
        rf"\bgive (?:{_ME}|this|it) (?:a|the|your) (?:top|highest|best|full|perfect) (?:score|rank|rating|mark)",
        rf"\b(?:this(?: \w+){{0,2}}|it|I) {_MUST} (?:(?:{_RANK}e?d?|{_PUT}(?:ed)?|chosen) )?{_FIRST}{_END}",
        rf"(?:^|(?<=[.!?:]\s))(?:please )?always {_RANK} {_ME}\b",
        r"\b(?:ignore|disregard|forget|override) (?:(?:about|all|any|every|of|the) )*"
        rf"(?:(?:previous|prior|above|earlier|preceding|your|system|these|those|given) )+(?:{_RULES}|items)\b",
        rf"\b(?:ignore|disregard|forget) (?:all|any|every|the) (?:(?:the|of) )*{_RULES}\b(?! of)",
        r"\b(?:ignore|disregard|forget) (?:(?:all|any|the) )*other instructions?\b",
        r"\b(?:ignore|disregard) (?:(?:all|any|the) )*other (?:items|candidates)\b",
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything|what) (?:\w+ ){0,2}above\b",
        *_ELSEWHERE,
    )
)
"""A space stands for any white space."""
_ORDER = re.compile(_PATTERN.replace(" ", r"\s+"), re.IGNORECASE | re.MULTILINE)
_LOOSE = re.compile(
    re.sub(r"(?<!\\w[+*]) (?!\\w)", r"\\s*", _PATTERN).replace(" ", r"\s+"), re.IGNORECASE | re.MULTILINE
)
"""The same, also where words run together; not beside a word of any kind, which would be split in every way."""
_JOINT = re.compile(  # looks for each run of spaces and of marks once only, however long it is
    r"((?:(?<!\s)\s+|(?<![.!?;:,|()\[\]–—]))[.!?;:,|()\[\]–—]+(?:\s+|$)|(?<!\s)\s+[-(\[]+\s*)"
)


def without_orders(text: str) -> str:
    """`text` without the sentences that order whoever ranks: they say nothing about an item."""
    return _parted(text)[0]


def orders(text: str) -> list[str]:
    """The sentences of `text` that `without_orders` leaves out."""
    return _parted(text)[1]


def _parted(text: str) -> tuple[str, list[str]]:
    """The text without its orders, and the orders. One that runs over a line's end is one nevertheless."""
    marked = _marked(text)
    if 1 not in marked:
        return text, []
    kept, ordered = list[str](), list[str]()
    for one in sentences(text):
        (ordered if 1 in marked[one.start : one.end] else kept).append(one.text)
    return " ".join(kept), ordered


def clauses_without_orders(title: str) -> str:
    """`title` without the clauses that order whoever ranks, and without the marks that led to them or ended them."""
    marked = _marked(title)
    if 1 not in marked:
        return title
    parts, kept, after_order, at = _JOINT.split(title), "", False, 0
    for mark, clause in zip(["", *parts[1::2]], parts[::2], strict=True):
        at += len(mark) + len(clause)
        if 1 in marked[at - len(clause) : at]:
            after_order = True
        elif clause.strip():
            joint = re.sub(r"[()\[\]]", "", mark) if after_order else mark
            kept, after_order = f"{kept}{joint}{clause}" if kept else clause, False
    return kept.strip()


def _marked(text: str) -> bytearray:
    """One byte a character of `text`, 1 where an order stands."""
    marked = bytearray(len(text))
    for order, read, places in _readings(text):
        for found in order.finditer(read):
            start, end = places[found.start()], places[found.end() - 1] + 1
            marked[start:end] = b"\1" * (end - start)
    return marked


def _readings(text: str) -> Iterator[tuple[re.Pattern[str], str, Sequence[int]]]:
    """`text` as it is read, without accents and other forms of letters, which place in it each character has, and what
    an order looks like there.

    What cannot be seen is read as nothing, where words may then run together, and once more as a space.
    """
    if text.isascii():
        yield _ORDER, text, range(len(text))
        return
    unseen = any(category(one) == "Cf" for one in text)
    for order, instead in ((_LOOSE, ""), (_ORDER, " ")) if unseen else ((_ORDER, ""),):
        read = [(letter, place) for place, one in enumerate(text) for letter in _read(one, instead)]
        read = [one for before, one in pairwise([("", -1), *read]) if one[0] != " " or not before[0].isspace()]
        yield order, "".join(letter for letter, _ in read), [place for _, place in read]


def _read(letter: str, instead: str) -> str:
    kinds = ((one, category(one)) for one in normalize("NFKD", letter))
    return "".join(instead if kind == "Cf" else one for one, kind in kinds if kind != "Mn")
