"""Prices are read as shops write them, or not at all."""

from __future__ import annotations

import pytest

from personable.retrieval.prices import price


@pytest.mark.parametrize(
    ("given", "number"),
    [
        ("$1,299.00", 1299.0),
        ("1.299,00 €", 1299.0),
        ("£1,299", 1299.0),
        ("1 299,50", 1299.5),
        ("1'299.00", 1299.0),
        ("$1,29,999.00", 129999.0),
        ("1.234.567", 1234567.0),
        ("1,234,567.89", 1234567.89),
        ("$10.00 - $25.00", 10.0),
        ("10 to 20 €", 10.0),
        ("7", 7.0),
        ("0.99", 0.99),
        ("$.99", 0.99),
        (".5", 0.5),
        ("0,125 €", 0.125),
        ("1234.567", 1234.567),
        ("19,90 €", 19.9),
        ("US$ 1,234.5", 1234.5),
        ("Rs.1,299.00", 1299.0),
        ("kr 1 299,00", 1299.0),
        ("12,50 zł", 12.5),
        ("1,299.00 USD", 1299.0),
        ("5.-", 5.0),
        ("from 1,299", 1299.0),
        ("£2.50 each", 2.5),
        ("$12.99 ($0.50 / count)", 12.99),
        (12, 12.0),
    ],
)
def test_what_has_one_reading_is_read(given: object, number: float) -> None:
    assert price(given) == number


@pytest.mark.parametrize(
    "given",
    [
        *("", "None", None, "-5", "$-5.00", "(5.00)", -5, float("nan"), float("inf"), True, 10**400, "9" * 401),
        *("$5.00 10.00", "12.99, 2 left", "2 for $5", "3-pack $10.00", "10.00$ 1,000 pcs", "10 - 20 - 30", "12 34"),
        *("1.299", "12.345 €", "1,299,50", "1.299.00", "1.2.3", "1,,2", "1e3", "USD 1.2k", "No. 5", "$5 off", "$"),
        *({"a": 1}, [5], ".a-box-inner{background-color:#fff} .a-alert-error{border-radius:4px 4px}"),
    ],
    ids=lambda given: str(given)[:20] if not isinstance(given, int) else "number",
)
def test_what_has_none_or_several_is_unknown(given: object) -> None:
    assert price(given) is None
