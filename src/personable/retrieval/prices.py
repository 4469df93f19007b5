"""Prices as shops write them, read only where there is one reading."""

from __future__ import annotations

import math
import re
from typing import Any

LONGEST = 40
"""Characters of a price; longer texts are style sheets and sentences."""
_BESIDE = frozenset(
    "usd eur gbp jpy cny rmb inr chf cad aud nzd sek nok dkk pln czk huf ron bgn try rub uah ils aed sar zar brl mxn "
    "ars clp cop pen krw twd hkd sgd myr thb idr php vnd egp ngn kes pkr bdt rs kr zł kč ft lei rm tl us c ca a au nz "
    "hk s r euro euros dollar dollars pound pounds each".split()
)
"""Words that may stand beside an amount: currencies, what leads a dollar sign, and "each"."""
_SIGN, _SPACE = "$€£¥₹₩₽₺₴₫฿₦₱₪₡₲₵₸", " \u00a0\u202f"
_PRICE = re.compile(
    rf"(?:from\s)?\s*(?:(?P<before>[^\W\d_]+)\.?)?\s*[{_SIGN}]?\s*(?P<amount>[0-9.,'’{_SPACE}]*[0-9])"
    rf"(?:[.,]?[-–]|[.,])?\s*[{_SIGN}]?\s*(?:(?P<after>[^\W\d_]+)\.?)?(?:\s+\(.*\))?\s*",
    re.IGNORECASE,
)
_UPPER_END = re.compile(r"\s*(?:[-–—]|\bto\b)\s*(?=\D*[0-9])", re.IGNORECASE)
_THOUSANDS = re.compile(
    rf"[1-9][0-9]{{0,2}}(?P<mark>[,.'’{_SPACE}])[0-9]{{3}}(?:(?P=mark)[0-9]{{3}})*(?P<rest>(?!(?P=mark))[.,][0-9]{{1,2}})?"
)
_LAKHS = re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?P<rest>\.[0-9]{1,2})?")
_PLAIN = re.compile(r"(?P<whole>[0-9]*)(?:[.,](?P<rest>[0-9]+))?")


def price(value: Any) -> float | None:
    """A price as a number: 1299.0 for "$1,299.00" and "1.299,00 €", the lower end of a range.

    None without one, and where a text has more than one reading: "1.299" (a dot may lead thousands or decimals),
    "2 for $5", "12.99, 2 left".
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:  # an integer of more than 308 digits
            return None
        return number if math.isfinite(number) and number >= 0 else None
    if not isinstance(value, str) or len(value.strip()) > LONGEST:
        return None
    ends = [_amount(end) for end in _UPPER_END.split(value.strip(), maxsplit=2)]
    known = [end for end in ends if end is not None]
    return min(known) if len(known) == len(ends) <= 2 else None


def _amount(text: str) -> float | None:
    found = _PRICE.fullmatch(text)
    if found is None or not {word.lower() for word in found.group("before", "after") if word} <= _BESIDE:
        return None
    digits = found["amount"].strip()
    if (grouped := _THOUSANDS.fullmatch(digits) or _LAKHS.fullmatch(digits)) is not None:
        rest = grouped["rest"] or ""
        if not rest and digits.count(".") == 1:
            return None
        return float(re.sub(r"[^0-9]", "", digits.removesuffix(rest)) + f".{rest[1:] or 0}")
    plain = _PLAIN.fullmatch(digits)
    return None if plain is None else float(f"{plain['whole'] or 0}.{plain['rest'] or 0}")
