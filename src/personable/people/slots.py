"""Slots: things of which a person has one at a time, and the statements that fill them, in English and Italian."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Slot = Literal["residence", "job", "name", "nickname", "age", "marital status", "diet", "pregnancy"]


class Claim(NamedTuple):
    """What a statement puts into a slot. `value` is folded; `whole` says that the statement says nothing else.

    For a residence, `country` says that the value is one, and `moved` that somebody went there.
    """

    slot: Slot
    value: str
    whole: bool
    country: bool = False
    moved: bool = False


_I_AM = r"i(?:'m| am)(?: (?:now|currently|already|just|again))*"
_SONO = r"(?:io )?(?:ora |adesso |ormai )?sono(?: (?:ora|adesso|ormai|già|di nuovo))*"
_TAIL = (
    r"(?P<rest>(?:,|;| (?:and|or|with|since|for|from|last|this|in|near|now|where|because|but|after|when|again|"
    r"yesterday|recently|at|on|until|e|ed|o|con|da|dal|dalla|per|il|lo|la|questo|questa|quest'anno|ora|adesso|dove|perché|ma|dopo|"
    r"nel|vicino|fino|\d+)\b|,).*)?$"
)
_WORDS = r"(?P<value>[^\W\d_][\w'.&/-]*(?: [^\W\d_][\w'.&/-]*){0,3}?)"
_ADVERBS = r"(?: (?:now|currently|just|recently|actually|finally))*"

_RULES: tuple[tuple[Slot, str], ...] = (
    (
        "residence",
        rf"(?:i|we)(?:'ve| have|'m| am|'re| are)?{_ADVERBS} (?P<verb>live|living|reside|residing|based|"
        rf"moved|relocated)(?: (?:now|back|over))? (?:in|to|at) (?:the )?{_WORDS}{_TAIL}",
    ),
    (
        "residence",
        r"(?:io )?(?:ora |adesso |ormai )?(?P<verb>vivo|abito|risiedo|viviamo|abitiamo|mi sono (?:appena )?"
        r"trasferit[oa]|ci siamo (?:appena )?trasferiti)(?: (?:ora|adesso|da poco))? (?:a|ad|in|nel|nei|negli) "
        rf"{_WORDS}{_TAIL}",
    ),
    ("job", rf"i(?:'m| am)?{_ADVERBS} work(?:ing)?(?: now)? as (?:an? |the )?{_WORDS}{_TAIL}"),
    ("job", rf"my (?:new |current |present )?(?:job|occupation|profession) is (?:an? |the )?{_WORDS}{_TAIL}"),
    ("job", rf"i(?:'ve| have)? got a (?:new )?job as (?:an? )?{_WORDS}{_TAIL}"),
    ("job", rf"{_I_AM} (?P<value>retired|unemployed|out of work){_TAIL}"),
    ("job", r"i(?:'ve| have)?(?: just)? (?P<value>retired|lost my job)(?P<rest>)$"),
    ("job", rf"(?:io )?(?:ora |adesso )?lavoro(?: ora| adesso)? come {_WORDS}{_TAIL}"),
    ("job", rf"(?:il mio lavoro|la mia professione) è (?:il |la |lo |l')?{_WORDS}{_TAIL}"),
    ("job", rf"{_SONO} (?P<value>pensionat[oa]|in pensione|disoccupat[oa]){_TAIL}"),
    ("name", rf"my name(?:'s| is) {_WORDS}{_TAIL}"),
    ("name", rf"(?:mi chiamo|il mio nome è) {_WORDS}{_TAIL}"),
    ("nickname", rf"(?:please |you can )?call me {_WORDS}{_TAIL}"),
    ("nickname", rf"(?:puoi )?chiamami {_WORDS}{_TAIL}"),
    ("age", rf"(?:{_I_AM}|i(?:'ve| have)?(?: just)? turned)(?: an?| aged)? (?P<value>\d{{1,3}})(?P<rest>)$"),
    (
        "age",
        rf"(?:{_I_AM}|i(?:'ve| have)?(?: just)? turned|my age is)(?: an?| aged)? (?P<value>\d{{1,3}})[- ]years?"
        r"(?:[- ]old(?P<rest>\W.*)?)?$",
    ),
    (
        "age",
        r"(?:io )?ho (?:ora |adesso |compiuto |appena compiuto )?(?P<value>\d{1,3}) anni(?! di\b)(?P<rest>\W.*)?$",
    ),
    (
        "marital status",
        r"(?:i|we)(?:'m| am|'re| are| got| have got|'ve got)(?: (?:now|currently|happily|recently|just|finally))* "
        rf"(?P<value>married|single|divorced|widowed|engaged)(?! (?:in|on|with)\b)(?: to \w+)?{_TAIL}",
    ),
    (
        "marital status",
        rf"(?:{_SONO}|mi sono)(?: (?:felicemente|appena))* (?P<value>sposat[oa]|single|celibe|nubile|divorziat[oa]|"
        rf"vedov[oa]|fidanzat[oa]){_TAIL}",
    ),
    (
        "diet",
        rf"(?:{_I_AM}|i(?:'ve| have)? (?:became|become|turned|went|gone))(?: an?)? "
        rf"(?P<value>vegan|vegetarian|pesc[ae]tarian|omnivore){_TAIL}",
    ),
    ("diet", rf"i(?: now)? eat (?P<value>meat|fish|everything)(?! (?:on|only|with)\b){_TAIL}"),
    (
        "diet",
        rf"(?:{_SONO}|sono diventat[oa])(?: un[oa]?)? (?P<value>vegan[oa]|vegetarian[oa]|pescetarian[oa]|"
        rf"onnivor[oa]){_TAIL}",
    ),
    ("diet", rf"(?:ora |adesso )?mangio (?P<value>carne|pesce|di tutto){_TAIL}"),
    ("pregnancy", rf"{_I_AM}(?: about)? (?P<value>\d{{1,2}}) weeks? pregnant{_TAIL}"),
    (
        "pregnancy",
        rf"{_I_AM} (?:in|at) (?:(?:my|the) )?(?:week )?(?P<value>\d{{1,2}})(?:(?:st|nd|rd|th) week)? of "
        rf"(?:(?:my|the) )?pregnancy{_TAIL}",
    ),
    ("pregnancy", rf"{_I_AM} (?P<value>pregnant){_TAIL}"),
    ("pregnancy", rf"i(?:'ve| have)?(?: just)? (?P<value>gave birth|given birth|had my baby){_TAIL}"),
    ("pregnancy", rf"{_SONO} incinta di (?P<value>\d{{1,2}}) settimane{_TAIL}"),
    ("pregnancy", rf"{_SONO} (?:alla|nella) (?P<value>\d{{1,2}})[ªa°]? settimana(?: di gravidanza)?{_TAIL}"),
    ("pregnancy", rf"{_SONO} (?P<value>incinta){_TAIL}"),
    ("pregnancy", rf"(?P<value>ho (?:appena )?partorito){_TAIL}"),
)
_PATTERNS = tuple((slot, re.compile(pattern, re.IGNORECASE)) for slot, pattern in _RULES)

_LEAD = re.compile(r"^(?:(?:no|yes|well|actually|by the way|now|so|sì|in realtà|allora),? +)+", re.IGNORECASE)
_MORE = re.compile(r"[,;.]|\b(?:and|or|but|with|where|because|e|ed|o|ma|con|dove|perché)\b", re.IGNORECASE)
_TWO = re.compile(r"^ (?:and|or|e|ed|o) (?:in |a )?[A-ZÀ-Ý]")
_LONG_AGO = re.compile(r"\bago\b|\bfa\b|\bwhen\b|\bquando\b|\bas a (?:child|kid)\b|\bda (?:bambin|piccol)")
_REGION = re.compile(r"^, ((?:the )?[A-ZÀ-Ý][\w.'-]*(?: [A-ZÀ-Ý][\w.'-]*)*)$")
_NAME_PARTS = frozenset("of de del della di du la le les am an der den sul sulla upon and al el".split())

_SAME_VALUE = {
    "sposat": "married", "celibe": "single", "nubile": "single", "divorziat": "divorced", "vedov": "widowed",
    "fidanzat": "engaged", "vegan": "vegan", "vegetarian": "vegetarian", "pescetarian": "pescatarian",
    "onnivor": "omnivore", "everything": "omnivore", "di tutto": "omnivore", "carne": "meat", "pesce": "fish",
    "pensionat": "retired", "in pensione": "retired", "disoccupat": "unemployed", "out of work": "unemployed",
    "lost my job": "unemployed", "pregnant": "some", "incinta": "some", "gave birth": "none", "given birth": "none",
    "had my baby": "none", "ho partorito": "none", "ho appena partorito": "none",
}  # fmt: skip

COUNTRIES = frozenset(
    (
        "afghanistan albania algeria america argentina armenia australia austria azerbaijan bahrain bangladesh "
        "belarus belgio belgium bielorussia bolivia bosnia brasile brazil bulgaria cambodia cameroon canada canadà "
        "cechia chile china cile cina cipro colombia croatia croazia cuba cyprus czechia danimarca denmark ecuador "
        "egitto egypt england estonia ethiopia etiopia europa europe filippine finland finlandia france francia "
        "galles georgia germania germany ghana giappone giordania grecia greece guatemala hungary iceland india "
        "indonesia inghilterra iran iraq ireland irlanda islanda israel israele italia italy jamaica japan jordan "
        "kazakhstan kenya kosovo kuwait laos latvia lebanon lettonia libano libia libya lithuania lituania "
        "lussemburgo luxembourg malaysia malta marocco messico mexico moldova mongolia montenegro morocco mozambique "
        "myanmar nepal netherlands nicaragua nigeria norvegia norway olanda oman pakistan palestine paraguay peru "
        "perù philippines poland polonia portogallo portugal qatar romania russia rwanda scotland scozia senegal "
        "serbia singapore siria slovacchia slovakia slovenia somalia spagna spain sudan svezia svizzera sweden "
        "switzerland syria tailandia taiwan tanzania thailand tunisia turchia turkey ucraina uganda uk ukraine "
        "ungheria uruguay us usa venezuela vietnam wales yemen zambia zimbabwe"
    ).split()
) | {
    "united states",
    "united kingdom",
    "new zealand",
    "south africa",
    "south korea",
    "saudi arabia",
    "stati uniti",
    "regno unito",
    "paesi bassi",
}


def claim(text: str) -> Claim | None:
    """What `text` says about one of the slots, if it begins with that; None for everything else."""
    plain = _LEAD.sub("", " ".join(text.replace("’", "'").split()).rstrip(".!。 "))
    for slot, pattern in _PATTERNS:
        if found := pattern.match(plain):
            return _claim(slot, found)
    return None


def _claim(slot: Slot, found: re.Match[str]) -> Claim | None:
    value, rest = found["value"], found["rest"] or ""
    whole = not _MORE.search(rest)
    if slot != "residence":
        return Claim(slot, _folded(value), whole and not (slot == "age" and rest))
    moved = "mov" in found["verb"].casefold() or "trasfer" in found["verb"].casefold() or found["verb"] == "relocated"
    if not _is_place(value, found.string) or _TWO.match(rest) or (moved and _LONG_AGO.search(rest)):
        return None
    if region := _REGION.match(rest):
        return Claim(slot, f"{value} {region[1]}".casefold(), True, False, moved)
    return Claim(slot, value.casefold(), whole, value.casefold() in COUNTRIES, moved)


def _is_place(value: str, text: str) -> bool:
    """A place has a capital letter, or is one word of somebody who writes none; "a flat" is no place."""
    words = value.split()
    if text.islower():
        return len(words) == 1 and len(value) > 3
    return all(word[0].isupper() or (word in _NAME_PARTS and place > 0) for place, word in enumerate(words))


def _folded(value: str) -> str:
    folded = value.casefold()
    return _SAME_VALUE.get(folded) or _SAME_VALUE.get(folded[:-1]) or folded
