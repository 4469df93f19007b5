"""The other pages in a real browser, and what all of them have to be: small, narrow enough, silent."""

from pathlib import Path

import pytest

from personable.evaluation.ratings import read_ratings
from personable.server.web.frame import PAGES
from tests.server.web.conftest import Open

pytestmark = pytest.mark.browser
FIRST_PAGE_BYTES = 100_000


async def test_a_statement_is_confirmed_and_undone_and_erasing_shows_the_receipt(tab: Open) -> None:
    found, running = await tab("ana")
    page = found.page
    await running.people.tell("ana", "I drink a lot of tea", source="inferred", cause="I drink a lot of tea. Why?")
    await page.get_by_role("link", name="You", exact=True).click()
    await page.get_by_role("button", name="Confirm").click()
    await page.get_by_role("heading", name="Is this right?").wait_for(state="detached")
    tea = page.locator("li.statement", has_text="I drink a lot of tea")
    await tea.get_by_role("button", name="Undo").click()
    await page.get_by_role("heading", name="Is this right?").wait_for()
    await page.get_by_label("is never used").check()
    await page.get_by_text("Saved.").wait_for()
    await page.get_by_label("Tell something about yourself").fill("I like <b>green</b> tea")
    await page.get_by_role("button", name="Add").click()
    await page.get_by_text("I like <b>green</b> tea", exact=False).first.wait_for()
    assert (await running.people.get("ana")).dial == "off"

    await page.get_by_text("Erase everything about").click()
    await page.get_by_label("to confirm").fill("ana")
    await page.get_by_role("button", name="Erase").click()
    await page.get_by_text("Nothing was found left.").wait_for()
    assert await page.locator("dd code").count() == 2
    assert [one.id for one in await running.people.list()] == ["bob"]
    await page.goto(f"{found.address}/you")
    await page.get_by_label("Your key").wait_for()


async def test_an_item_is_recommended_and_dismissed(tab: Open) -> None:
    found, running = await tab("ana")
    page = found.page
    await page.get_by_role("link", name="For you").click()
    await page.locator(".item").first.wait_for()
    first = page.locator(".item").first
    title = await first.locator("h2").inner_text()
    await first.get_by_role("link").first.click()
    assert await page.locator("#steps :target").is_visible()
    await first.get_by_role("button", name="Not interested").click()
    await page.get_by_text("is not shown to you again").wait_for()
    await page.get_by_role("button", name="Show").click()
    await page.get_by_text("is not shown to you again").wait_for(state="detached")
    assert title not in await page.locator(".item h2").all_inner_texts()
    assert [one.kind for one in await running.people.events("ana") if one.item] == ["thumbs"]


async def test_a_certified_reply_is_read_and_rated_and_the_benchmarks_tell(tab: Open, tmp_path: Path) -> None:
    found, _ = await tab("ana")
    page, home = found.page, tmp_path / "home"
    (home / "reports").mkdir()
    (home / "reports" / "report.html").write_text(
        "<!doctype html><style>h1{color:red}</style><h1>Figures</h1>", "utf-8"
    )
    await page.get_by_role("link", name="Certified").click()
    await page.get_by_label("Your question").fill("I have chest pain. How do I prevent kidney stones?")
    await page.get_by_role("button", name="Ask").click()
    await page.locator(".emergency").wait_for()
    assert await page.locator(".source").count() >= 1
    assert len(await page.locator(".source code").first.inner_text()) == 64
    for name in ("q1", "q2", "q3", "q4", "q5", "q6", "q7"):
        await page.locator(f"input[name={name}]").last.check()
    await page.get_by_role("button", name="Send the rating").dblclick()
    await page.get_by_text("Thank you.").wait_for()
    assert len(read_ratings(home)) == 1
    await page.get_by_role("link", name="Benchmarks").click()
    await page.frame_locator("iframe").get_by_role("heading", name="Figures").wait_for()
    assert await page.get_by_role("cell", name="person").count() == 7


async def test_a_folder_is_uploaded_with_progress_and_what_failed(tab: Open, tmp_path: Path) -> None:
    folder = tmp_path / "guides 🌿"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "tea.md").write_text("# Green tea\n\nGreen tea is steeped for two minutes.\n", "utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    (folder / ".hidden.md").write_text("hidden", "utf-8")
    found, running = await tab("builder")
    page = found.page
    await page.get_by_role("link", name="Collections").click()
    await page.get_by_label("Into the collection").fill("guides")
    await page.get_by_label("or a folder").set_input_files(folder)
    await page.get_by_role("button", name="Upload and index").dblclick()
    done = page.locator(".job", has_text="1 added")
    await done.wait_for()
    assert "broken.pdf" in await done.inner_text()
    assert "hidden or temporary" in (await done.locator("details").text_content() or "")
    await done.get_by_role("link", name="guides").click()
    await page.get_by_role("searchbox").fill("steeping tea")
    await page.get_by_role("button", name="Search").click()
    await page.get_by_role("link", name="Green tea").click()
    await page.locator("dialog").get_by_text("two minutes").wait_for()
    await page.keyboard.press("Escape")
    page.on("dialog", lambda one: one.accept())
    await page.locator("li", has_text="tea.md").get_by_role("button", name="Delete").click()
    await page.get_by_text("is deleted").wait_for()
    await page.get_by_text("Delete this collection").click()
    await page.get_by_label("to confirm").fill("guides")
    await page.get_by_role("button", name="Delete", exact=True).last.click()
    await page.get_by_role("heading", name="Collections").wait_for()
    assert "guides" not in running.app.state.engine.collections()


async def test_every_page_fits_a_phone_and_the_first_one_is_small(tab: Open) -> None:
    found, running = await tab(None, width=360)
    page = found.page
    for signed_in in (False, True):
        if signed_in:
            await found.sign_in(running.keys["ana"])
        else:
            await page.goto(found.address)
        entries = await page.evaluate(
            "performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))"
            ".map(one => [one.name, one.transferSize])"
        )
        assert len(entries) >= (1 if signed_in else 4)
        assert sum(size for _, size in entries) < FIRST_PAGE_BYTES
    for path, name in PAGES.items():
        await page.goto(f"{found.address}{path}")
        assert await page.get_by_role("heading", level=1).inner_text() == name
        assert await page.locator("nav [aria-current]").first.inner_text() == name
        assert await found.is_narrow_enough(), path
    await page.get_by_role("button", name="Sign out").click()
    await found.sign_in(running.keys["builder"])
    for path in ("/collections", "/collections/notes"):
        await page.goto(f"{found.address}{path}")
        await page.get_by_role("button", name="Upload and index").wait_for()
        assert await found.is_narrow_enough(), path
        within = "one => one.getBoundingClientRect().right <= innerWidth"
        assert all([await one.evaluate(within) for one in await page.locator("input:visible").all()])


async def test_without_a_script_everything_is_a_form(tab: Open) -> None:
    found, running = await tab("ana", script=False)
    page = found.page
    await page.get_by_label("Collection").select_option("notes")
    await page.get_by_label("Your question").fill("How many liters of water a day against kidney stones?")
    await page.get_by_role("button", name="Ask", exact=True).click()
    await page.get_by_role("link", name="[1]").click()
    assert await page.locator("mark").inner_text() == "Drink 2 to 3 liters of water a day."
    await page.goto(f"{found.address}/you")
    await page.get_by_role("button", name="Forget").first.click()
    await page.get_by_text("Nothing yet. Tell something").wait_for()
    assert await running.people.statements("ana") == []
