"""Ask in a real browser: streaming, citations, what was heard, comparing, and going on later."""

import re
from typing import Any

import pytest

from personable.llm.scripted import ScriptedModel
from tests.server.web.conftest import Open

pytestmark = pytest.mark.browser

QUESTION = "How many liters of water a day against kidney stones?"


async def test_an_answer_streams_and_its_citation_opens_at_the_quoted_words(tab: Open) -> None:
    page = (await tab("ana"))[0].page
    await _ask(page, QUESTION)
    await page.get_by_role("link", name="[1]").first.click()
    quoted = page.locator("dialog mark")
    await quoted.wait_for()
    assert await quoted.inner_text() == "Drink 2 to 3 liters of water a day."
    await page.keyboard.press("Escape")
    assert not await page.locator("dialog").is_visible()
    await page.get_by_text("What I looked at").click()
    steps = await page.locator(".looked li").all_inner_texts()
    assert steps[0] == "Read your question."
    assert any("Kidney stones" in step for step in steps)
    assert re.search("session=", page.url)
    await page.reload()
    assert await page.locator(".said").all_inner_texts() == [QUESTION]


async def test_what_happens_is_told_while_a_model_still_writes(tab: Open) -> None:
    model = ScriptedModel("Drink 2 to 3 liters of water a day [1].", delay=3)
    page = (await tab("ana", model=model))[0].page
    await page.get_by_label("Collection").select_option("notes")
    await page.get_by_label("Your question").fill(QUESTION)
    await page.keyboard.press("Enter")
    step = page.locator("[aria-busy] .looked li", has_text="Searched for")
    await step.wait_for()
    assert await page.locator("[aria-busy] .text").get_attribute("role") == "status"
    await page.locator(".turn:not([aria-busy]) .sources").wait_for()
    assert "2 to 3 liters" in await page.locator(".reply .text").inner_text()


async def test_what_was_heard_is_confirmed_and_undone_and_the_conversation_goes_on(tab: Open) -> None:
    page, running = (found := await tab("ana"))[0].page, found[1]
    await page.get_by_label("compare with the plain answer").check()
    await _ask(page, f"I am vegetarian. {QUESTION}")
    await page.get_by_role("button", name="That is right").click()
    await page.get_by_text("confirmed").wait_for()
    assert "I am vegetarian." in [one.text for one in await running.people.statements("ana")]
    await page.locator(".heard").get_by_role("button", name="Undo").click()
    await page.get_by_role("button", name="That is right").wait_for()
    assert [one.state for one in await running.people.statements("ana", ("proposed",))] == ["proposed"]
    assert await page.get_by_role("heading", name="Plain, without you").is_visible()

    await page.get_by_role("button", name="Helpful", exact=True).click()
    await page.get_by_text("Thank you.").wait_for()
    await page.get_by_label("compare with the plain answer").uncheck()
    await page.locator(".nexts button").first.click()
    await page.locator(".turn:not([aria-busy])").nth(1).wait_for()
    assert await page.locator(".said").count() == 2


async def test_it_works_on_a_dark_phone_with_the_keyboard_alone(tab: Open) -> None:
    found = (await tab("ana", width=360, dark=True))[0]
    page = found.page
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.textContent") == "Skip to the page"
    await _ask(page, QUESTION)
    cite = page.get_by_role("link", name="[1]").first
    await cite.focus()
    assert await cite.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
    await page.keyboard.press("Enter")
    await page.locator("dialog mark").wait_for()
    assert await page.evaluate("document.getElementById('side').contains(document.activeElement)")
    assert await found.is_narrow_enough()
    back = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in re.findall(r"\d+", back)) < 60


async def _ask(page: Any, question: str) -> None:
    await page.get_by_label("Collection").select_option("notes")
    await page.get_by_label("Your question").fill(question)
    await page.keyboard.press("Enter")
    await page.locator(".turn:not([aria-busy]) .sources").first.wait_for()
