"""Catalogues from every layout and with every fault that real ones have."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from personable.embed import make_embedder
from personable.errors import DataError, UsageError
from personable.retrieval.catalogue import Stock, Wanted, all_items, as_passage, fill, item_of, read_items
from personable.retrieval.corpus import open_collection
from personable.retrieval.item_records import read_item
from personable.types import Item, Passage

EMBEDDER = make_embedder("hash:64")


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return path


def test_the_layout_of_2014_is_python_not_json(tmp_path: Path) -> None:
    path = tmp_path / "meta_Office.json.gz"
    lines = [
        {"asin": "A1", "title": "Stapler", "price": 5.5, "categories": [["Office", "Staplers"]], "brand": "Clip"},
        {"asin": "A2", "title": "Clock's hand", "description": "Ticks"},
    ]
    path.write_bytes(gzip.compress("\n".join(map(repr, lines)).encode()))
    items = read_items([path]).items
    names = ("Office", "Staplers")
    assert items["A1"] == Item(id="A1", title="Stapler", category="Staplers", categories=names, brand="Clip", price=5.5)
    assert items["A2"].title == "Clock's hand"


def test_the_layout_of_2018_with_its_reviews(tmp_path: Path) -> None:
    meta = jsonl(
        tmp_path / "meta.json",
        {
            "asin": "B1",
            "title": "Desk &amp; chair",
            "description": ["<p>Solid <b>oak</b></p>", ""],
            "feature": ["Folds"],
            "price": "$1,299.00",
            "category": ["Office", "Desks"],
        },
    )
    reviews = jsonl(
        tmp_path / "reviews.json",
        *({"reviewerID": f"R{n}", "asin": "B1", "reviewText": f"Review {n}", "overall": 5.0} for n in range(5)),
    )
    item = read_items([meta, reviews]).items["B1"]
    assert item.title == "Desk & chair"
    assert item.description == "Solid oak\nFolds"
    assert (item.price, item.category) == (1299.0, "Desks")
    assert item.reviews == ("Review 0", "Review 1", "Review 2")
    assert "Review 0" in as_passage(item).text


def test_the_layout_of_2023(tmp_path: Path) -> None:
    record = {
        "parent_asin": "C1",
        "main_category": "Office",
        "title": "Pen",
        "features": ["Blue 🖊️"],
        "description": [],
        "price": None,
        "store": "Pilot",
        "categories": ["Office", "Pens"],
        "details": {"Colour": "Blue", "Weight": {"g": 3}},
        "images": [{"large": "https://example.org/a.jpg"}],
        "average_rating": 4.5,
    }
    review = {"user_id": "U", "parent_asin": "C1", "title": "Good", "text": "Writes<br />well", "rating": 5.0}
    item = read_items([jsonl(tmp_path / "meta.jsonl", record), jsonl(tmp_path / "reviews.jsonl", review)]).items["C1"]
    assert (item.category, item.brand, item.price, item.description) == ("Pens", "Pilot", None, "Blue 🖊️")
    assert item.attributes == {"Colour": "Blue", "average_rating": 4.5}
    assert item.reviews == ("Writes\nwell",)


def test_csv_with_stock(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("sku,name,price,availability\n1,Cup,£2.50,in stock\n2,Mug,3,out of stock\n", encoding="utf-8")
    items = read_items([path]).items
    assert [(one.title, one.price, one.in_stock) for one in items.values()] == [("Cup", 2.5, True), ("Mug", 3.0, False)]


@pytest.mark.parametrize(
    "said",
    [
        *("out of stock", "out_of_stock", "out-of-stock", "OutOfStock", "https://schema.org/OutOfStock", "outofstock"),
        *("Currently unavailable.", "Not in stock", "Sold-out", "Temporarily out of stock.", "no", "No, sorry", "N"),
        *("https://schema.org/BackOrder", "onbackorder", "PreOrder", "discontinued", "FALSE", "0", "0.0", "-1"),
        *("0 left", "Out of stock / back soon", 0, -1, 0.0, False),
    ],
)
def test_what_is_not_in_stock(said: object) -> None:
    found = read_item({"id": "1", "title": "Cup", "availability": said})
    assert isinstance(found, Item)
    assert not found.in_stock


@pytest.mark.parametrize(
    "said",
    [
        *("in stock", "InStock", "https://schema.org/InStock", "http://schema.org/LimitedAvailability", "yes", "3"),
        *("Only 2 left in stock", "In stock, no minimum order", "0.5", "n/a", "verfügbar", "", None, True, 7),
    ],
)
def test_what_is_in_stock_or_says_nothing_that_is_known(said: object) -> None:
    found = read_item({"id": "1", "title": "Cup", "availability": said})
    assert isinstance(found, Item)
    assert found.in_stock


def test_prices_that_cannot_be_read_are_counted_and_the_items_kept(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "items.jsonl",
        {"id": "1", "title": "Cup", "price": "2 for $5"},
        {"id": "2", "title": "Mug", "price": 10**400},
        {"id": "3", "title": "Jug", "price": "None"},
        {"id": "4", "title": "Pot", "price": {"a": 1}},
    )
    stock = read_items([path])
    assert [item.price for item in stock.items.values()] == [None] * 4
    assert [failed.source for failed in stock.failed] == [f"{path}, line 1"]
    assert "'2 for $5' and 2 more of this file" in stock.failed[0].error


def test_a_number_too_long_to_be_one_spoils_its_record_alone(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    long = f'{{"id": "1", "title": "Cup", "price": {"9" * 5001}}}\n'
    path.write_text(
        long + '{"id": "2", "title": "Mug", "price": 3}\n{"id": "3", "title": "Jug", "weight": ' + "9" * 401 + "}",
        encoding="utf-8",
    )
    stock = read_items([path])
    assert list(stock.items) == ["2", "3"]
    assert [failed.source for failed in stock.failed] == [f"{path}, line 1"]
    with open_collection(tmp_path, "shop", embedder=EMBEDDER, create=True) as shop:
        assert fill(shop.store, stock).added == 2
        assert len(all_items(shop.store)[0]) == 2
    array = tmp_path / "items.json"
    array.write_text(f"[{long}]", encoding="utf-8")
    with pytest.raises(DataError, match="not valid JSON"):
        read_items([array])


def test_where_another_field_is_the_id_item_is_the_name(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    path.write_text("id,item,price\n1,Cup,2\n", encoding="utf-8")
    assert read_items([path]).items == {"1": Item(id="1", title="Cup", price=2.0)}
    assert read_item({"item_id": 5, "item": "Mug"}) == Item(id="5", title="Mug")
    assert read_item({"item": 5, "title": "Jug"}) == Item(id="5", title="Jug")
    coded = read_item({"item": 0, "code": "10123C", "title": "Jug"})  # a number is no name
    assert coded == Item(id="0", title="Jug")
    novel = read_item({"id": "B1", "item": "1984", "description": "A novel of 1949"})
    assert novel == Item(id="B1", title="1984", description="A novel of 1949")
    assert read_item({"sku": "B1", "item": "1984"}) == Item(id="B1", title="1984")


def test_a_json_file_of_one_line_may_hold_all_items_under_one_name(tmp_path: Path) -> None:
    path = tmp_path / "shop.json"
    path.write_text(json.dumps({"products": [{"id": 1, "title": "Cup"}, {"id": 2, "title": "Mug"}]}), encoding="utf-8")
    assert read_items([path]).items.keys() == {"1", "2"}


@pytest.mark.parametrize("key", ["text", "reviewText", "body"])
def test_reviews_within_an_item(key: str) -> None:
    found = read_item({"id": "1", "title": "Cup", "reviews": [{key: "Holds tea", "stars": 5}, "Blue", {"stars": 1}]})
    assert isinstance(found, Item)
    assert found.reviews == ("Holds tea", "Blue")


@pytest.mark.parametrize(
    ("record", "names"),
    [
        (
            {"categories": [["Sports & Outdoors", "Exercise"], ["Clothing", "Shoes"]]},
            ("Sports & Outdoors", "Exercise", "Clothing", "Shoes"),
        ),
        ({"category": ["Office Products", "Pens"], "main_cat": "Office"}, ("Office Products", "Pens", "Office")),
        ({"main_category": "All Beauty", "categories": ["Hair", "Combs"]}, ("Hair", "Combs", "All Beauty")),
        ({"category": "Pens"}, ("Pens",)),
        ({"category": "Home > Lamps|Desk lamps"}, ("Home", "Lamps", "Desk lamps")),
        ({"categories": "['Home & Kitchen', \"Kids' room, toys\"]"}, ("Home & Kitchen", "Kids' room, toys")),
    ],
)
def test_any_name_of_its_categories_finds_an_item(record: dict[str, Any], names: tuple[str, ...]) -> None:
    found = read_item({"id": "1", "title": "Thing", **record})
    assert isinstance(found, Item)
    assert found.categories == names
    back = item_of(as_passage(found))
    assert back.categories == names
    for name in names:
        assert Wanted(category=f" {name.upper()}").allows(back)
    assert not Wanted(category="Garden").allows(back)


def test_faulty_records_are_told_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(
        '{"id": "1", "title": "Cup"}\n{"id": "1", "title": "Other"}\n{"title": "No id"}\n{"id": "2"}\n'
        '{"id": "3", "title": "", "description": "Only described"}\nnot json\n[1]\n',
        encoding="utf-8",
    )
    stock = read_items([path])
    assert {id: item.title for id, item in stock.items.items()} == {"1": "Cup", "3": "Only described"}
    errors = [failed.error for failed in stock.failed]
    assert [failed.source for failed in stock.failed] == [f"{path}, line {n}" for n in (2, 3, 4, 6, 7)]
    assert "used before" in errors[0]
    assert "no id" in errors[1]
    assert "neither title nor description" in errors[2]


def test_a_title_of_nothing_but_markup_is_missing() -> None:
    assert "neither title" in str(read_item({"id": "1", "title": "<br>"}))


@pytest.mark.parametrize("content", ["", "not json\n"])
def test_a_catalogue_without_items_is_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="no item in"):
        read_items([path])


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    with pytest.raises(DataError, match="no file of items"):
        read_items([tmp_path / "a.pdf"])


def test_a_collection_mirrors_its_catalogue(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "items.jsonl", {"id": "1", "title": "Cup"}, {"id": "2", "title": "Mug", "price": 3})
    with open_collection(tmp_path, "shop", embedder=EMBEDDER, create=True) as shop:
        assert fill(shop.store, read_items([path])).added == 2
        jsonl(path, {"id": "2", "title": "Mug", "price": 4}, {"id": "3", "title": "Jug"})
        report = fill(shop.store, read_items([path]))
        assert (report.added, report.replaced, report.unchanged, report.removed) == (1, 1, 0, 1)
        assert fill(shop.store, read_items([path])).unchanged == 2
        items, vectors = all_items(shop.store)
    assert {item.id: item.price for item in items} == {"2": 4.0, "3": None}
    assert vectors is not None
    mug = next(row for row, item in enumerate(items) if item.id == "2")
    assert vectors.shape == (2, 64)
    assert float(vectors[mug] @ EMBEDDER.passages(["Mug"])[0]) > 0.5


def test_a_file_that_breaks_off_takes_nothing_out(tmp_path: Path) -> None:
    whole = jsonl(tmp_path / "a.jsonl", {"id": "1", "title": "Cup"})
    many = "\n".join(json.dumps({"id": str(number), "title": f"Mug {number} {number**9}"}) for number in range(2, 99))
    packed, file = gzip.compress(many.encode()), tmp_path / "b.jsonl.gz"
    file.write_bytes(packed)
    with open_collection(tmp_path, "shop", embedder=EMBEDDER, create=True) as shop:
        assert fill(shop.store, read_items([whole, file])).added == 98
        file.write_bytes(packed[: len(packed) // 2])
        report = fill(shop.store, read_items([whole, file]))
        assert (report.removed, len(shop.store.documents())) == (0, 98)
    assert any("no item was taken out" in failed.error for failed in report.failed)


def test_an_attribute_is_no_field_of_the_item() -> None:
    odd = {"price": -5, "kind": "lamp", "in_stock": False, "brand": 3}
    found = read_item({"id": "1", "title": "Lamp", "attributes": odd})
    assert isinstance(found, Item)
    back = item_of(as_passage(found))
    assert (back.price, back.in_stock, back.brand) == (None, True, "")
    assert "price: -5" in back.description


def test_details_may_be_written_as_json() -> None:
    found = read_item({"parent_asin": "1", "title": "Lamp", "details": '{"Colour": "red"}'})
    assert isinstance(found, Item)
    assert found.attributes == {"Colour": "red"}


def test_who_sells_an_item_makes_it_no_review() -> None:
    assert isinstance(read_item({"id": "1", "title": "Lamp", "user_id": "seller", "price": 3}), Item)


def test_items_do_not_mix_with_documents(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "items.jsonl", {"id": "1", "title": "Cup"})
    (tmp_path / "a.md").write_text("Some text", encoding="utf-8")
    with open_collection(tmp_path, "docs", embedder=EMBEDDER, create=True) as docs:
        docs.index([tmp_path / "a.md"])
        with pytest.raises(DataError, match="holds documents"):
            fill(docs.store, read_items([path]))
        with pytest.raises(DataError, match="no item of a catalogue"):
            all_items(docs.store)


def test_an_empty_catalogue_is_named(tmp_path: Path) -> None:
    with (
        open_collection(tmp_path, "shop", embedder=EMBEDDER, create=True) as shop,
        pytest.raises(DataError, match="is empty"),
    ):
        all_items(shop.store)


def test_an_item_survives_as_a_passage() -> None:
    item = Item(id="1", title="Cup", category="Kitchen", brand="Ceram", price=2.5, in_stock=False)
    back = item_of(as_passage(item))
    assert back.model_copy(update={"description": ""}) == item
    with pytest.raises(DataError, match="no item"):
        item_of(Passage(id="x", text="y"))


def test_filters() -> None:
    cup = Item(id="1", title="Cup", category="Kitchen", brand="Ceram", price=2.5)
    gone = cup.model_copy(update={"in_stock": False})
    free = cup.model_copy(update={"price": None})
    assert Wanted().allows(cup)
    assert not Wanted().allows(gone)
    assert Wanted(in_stock=False).allows(gone)
    assert Wanted(category="kitchen", brand="CERAM", cheapest=2.5, dearest=2.5).allows(cup)
    assert not Wanted(category="Garden").allows(cup)
    assert not Wanted(brand="Other").allows(cup)
    assert not Wanted(dearest=2).allows(cup)
    assert not Wanted(cheapest=3).allows(cup)
    assert not Wanted(dearest=2).allows(free)
    assert Wanted().allows(free)


def test_filling_tells_how_far_it_is_and_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("personable.retrieval.catalogue.EVERY", 2)
    stock = Stock({str(number): Item(id=str(number), title=f"Cup {number}") for number in range(5)})
    told: list[tuple[int, int]] = []

    def stop(done: int, new: int) -> None:
        told.append((done, new))
        raise UsageError("enough")

    with open_collection(tmp_path, "shop", create=True) as shop, pytest.raises(UsageError, match="enough"):
        fill(shop.store, stock, stop)
    with open_collection(tmp_path, "shop", create=True) as shop:
        report = fill(shop.store, stock, lambda done, new: told.append((done, new)))
    assert (report.unchanged, report.added) == (2, 3), "what was committed stays, and the next run goes on"
    assert told == [(2, 2), (2, 0), (4, 2)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("items.jsonl", '{"id": "1", "title": "Cup"}\n{"id": "2", "ti'),
        ("items.csv", 'id,title\n1,Cup\n2,"Pla'),
    ],
)
def test_a_file_that_breaks_off_in_its_last_line_takes_nothing_out(tmp_path: Path, name: str, content: str) -> None:
    full = jsonl(tmp_path / "full.jsonl", *({"id": str(n), "title": f"Cup {n}"} for n in range(1, 6)))
    short = tmp_path / name
    short.write_text(content, encoding="utf-8")
    with open_collection(tmp_path, "shop", create=True) as shop:
        fill(shop.store, read_items([full]))
        report = fill(shop.store, read_items([short]))
        assert (report.removed, len(shop.store.documents())) == (0, 5)
        assert any("no item was taken out" in failed.error for failed in report.failed)
        middle = jsonl(tmp_path / "middle.jsonl", {"id": "1", "title": "Cup 1"}, {"title": "no id"})
        assert fill(shop.store, read_items([middle])).removed == 4
