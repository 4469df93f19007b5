"""What a statement turns against, and what it speaks for."""

from __future__ import annotations

import pytest

from personable.people.aversions import hear


@pytest.mark.parametrize(
    ("said", "unwanted"),
    [
        ("I am allergic to peanuts and nuts", ("peanuts", "nuts")),
        ("I hate lamps, never show me a lamp", ("lamps", "a lamp")),
        ("I am allergic to oak and I do not want red ink", ("oak", "red ink")),
        ("I can't stand plastic", ("plastic",)),
        ("I cannot stand plastic!", ("plastic",)),
        ("I do not eat meat or fish", ("meat", "fish")),
        ("I don’t want anything with leather", ("leather",)),
        ("I have a lactose intolerance", ("lactose",)),
        ("I'm not interested in sports", ("sports",)),
        ("I can eat anything but nuts", ("nuts",)),
        ("I want to avoid gluten because of my bowels", ("gluten",)),
        ("no nuts please", ("nuts",)),
        ("sono allergica alle noci", ("noci",)),
        ("sono allergico all'aglio", ("aglio",)),
        ("I have no interest in lamps", ("lamps",)),
        ("I can't have dairy", ("dairy",)),
        ("Non mangio carne né pesce", ("carne", "pesce")),
        ("non mi piacciono le lampade", ("le lampade",)),
    ],
)
def test_what_is_turned_against(said: str, unwanted: tuple[str, ...]) -> None:
    heard = hear(said)
    assert heard.unwanted == unwanted
    assert not any(thing in heard.wanted for thing in unwanted)


@pytest.mark.parametrize(
    "said",
    [
        "I like oak",
        "I can't live without coffee",
        "I never tire of tea",
        "I am not only a teacher but a painter",
        "there is nothing better than oak",
        "I know jazz and note taking",
        "I don't mind noise",
        "I have a food allergy",
        "I can't get enough of lamps",
        "I don't have a lamp yet",
        "I've got no lamp, and have no desk",
        "",
    ],
)
def test_what_turns_against_nothing_stays_whole(said: str) -> None:
    assert hear(said) == (said, ())


def test_what_is_wanted_beside_it_stays() -> None:
    heard = hear("I love red pens but I don't like blue ink, and I collect stamps")
    assert heard.unwanted == ("blue ink",)
    assert "love red pens" in heard.wanted
    assert "collect stamps" in heard.wanted


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("I am allergic to nuts, almonds and peanuts", ("nuts", "almonds", "peanuts")),
        ("I can't eat nuts, milk, or eggs.", ("nuts", "milk", "eggs")),
        ("I hate lamps, wall clocks, and vases!", ("lamps", "wall clocks", "vases")),
        ("no nuts, peanuts and milk, please", ("nuts", "peanuts", "milk")),
        ("Sono allergica alle noci, latte e uova", ("noci", "latte", "uova")),
        ("I avoid nuts, and love chocolate.", ("nuts",)),
        ("I hate rock, jazz and blues are fine.", ("rock",)),
        ("no fish, show me lamps and clocks", ("fish",)),
        ("I hate lamps, I like clocks and vases", ("lamps",)),
        ("no sugar, something with chocolate and nuts", ("sugar",)),
    ],
)
def test_a_list_is_heard_to_its_end_and_what_follows_is_not(statement: str, unwanted: tuple[str, ...]) -> None:
    assert hear(statement).unwanted == unwanted
