"""Somebody signed in with a plain client, and a real headless Chromium that may not reach any other host."""

import shutil
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import httpx2 as httpx
import pytest

from tests.server.conftest import Running, Start

CHROMIUM = shutil.which("chromium")


async def signed_in(running: Running, key: str) -> httpx.AsyncClient:
    """A client with the login of a key; `csrf` of its pages is in its headers."""
    client = await running.client(None, follow_redirects=True)
    found = await client.post("/sign-in", data={"key": running.keys.get(key, key)})
    assert found.status_code == 200, found.text
    client.headers["X-CSRF-Token"] = found.text.split('name="csrf" content="')[1].split('"')[0]
    return client


@dataclass
class Tab:
    """A page in Chromium, what it asked other hosts for and what it complained about."""

    page: Any
    address: str
    foreign: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    async def sign_in(self, secret: str) -> None:
        await self.page.goto(f"{self.address}/")
        await self.page.get_by_label("Your key").fill(secret)
        await self.page.get_by_role("button", name="Sign in").click()
        await self.page.get_by_role("heading", name="Ask", level=1).wait_for()

    async def is_narrow_enough(self) -> bool:
        return bool(
            await self.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        )


Open = Callable[..., Coroutine[Any, Any, tuple[Tab, Running]]]


@pytest.fixture
async def tab(start: Start) -> AsyncIterator[Open]:
    """Opens a tab at a server: `tab, running = await tab("ana", model=…, width=…, dark=True)`."""
    if CHROMIUM is None:
        pytest.skip("no chromium here: apt-get install chromium")
    from playwright.async_api import async_playwright

    opened: list[Tab] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

        async def begin(
            key: str | None = "ana", *, width: int = 1100, dark: bool = False, script: bool = True, **server: Any
        ) -> tuple[Tab, Running]:
            running = await start(**server)
            context = await browser.new_context(
                viewport={"width": width, "height": 800},
                color_scheme="dark" if dark else "light",
                java_script_enabled=script,
            )
            found = Tab(await context.new_page(), running.address)
            context.on("request", lambda one: one.url.startswith(running.address) or found.foreign.append(one.url))
            found.page.on("console", lambda one: one.type == "error" and found.complaints.append(one.text))
            found.page.on("pageerror", lambda one: found.complaints.append(str(one)))
            found.page.set_default_timeout(20_000)
            opened.append(found)
            if key is not None:
                await found.sign_in(running.keys[key])
            return found, running

        yield begin
        for one in opened:
            assert one.foreign == []
            assert one.complaints == []
        await browser.close()
