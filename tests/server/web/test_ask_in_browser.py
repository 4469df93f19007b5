"""Ask in a real browser: streaming, citations, what was heard, comparing, and going on later."""

import re

import pytest

from tests.server.web.conftest import Open

pytestmark = pytest.mark.browser
QUESTION = "How many liters of water a day against kidney stones?"


async def test_an_answer_streams_and_its_citation_opens_at_the_quoted_words(tab: Open) -> None:
    page = (await tab("ana"))[0].page
    await page.get_by_label("Collection").select_option("notes")
    await page.get_by_label("Your question").fill(QUESTION)
    await page.keyboard.press("Enter")
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
