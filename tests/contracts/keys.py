"""What every store must do with API keys and logins. A subclass gives the fixture `people`."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from personable.errors import NotFoundError, UsageError
from personable.people.store import People


class KeysContract:
    async def test_a_key_is_found_by_its_secret_and_kept_as_a_digest(self, people: People) -> None:
        made, secret = await people.add_key("builder", label="the shop")
        assert await people.key(secret) == made
        assert await people.keys() == [made]
        assert secret not in made.model_dump_json()
        for wrong in (secret[:-1], secret.lower(), made.id, "", "\ud800", "x" * 100_000):
            with pytest.raises(NotFoundError, match="unknown, revoked or expired"):
                await people.key(wrong)

    async def test_a_persons_key_needs_the_person_and_goes_with_them(self, people: People) -> None:
        with pytest.raises(NotFoundError, match="'ana'"):
            await people.add_key("person", "ana")
        await people.add("ana")
        _, secret = await people.add_key("person", "ana")
        login, token = await people.sign_in(secret, timedelta(hours=1))
        assert login.key.person == "ana"
        assert (await people.erase("ana")).removed["keys"] == 1
        with pytest.raises(NotFoundError):
            await people.key(secret)
        with pytest.raises(NotFoundError):
            await people.login(token)

    async def test_an_expired_or_revoked_key_opens_nothing(self, people: People) -> None:
        made, secret = await people.add_key("admin", days=0.5 / 86_400)
        _, token = await people.sign_in(secret, timedelta(hours=1))
        await asyncio.sleep(0.6)
        with pytest.raises(NotFoundError):
            await people.key(secret)
        with pytest.raises(NotFoundError):
            await people.login(token)
        with pytest.raises(NotFoundError):
            await people.sign_in(secret, timedelta(hours=1))
        await people.revoke_key(made.id)
        assert await people.keys() == []
        with pytest.raises(NotFoundError, match=made.id):
            await people.revoke_key(made.id)

    async def test_a_login_ends_by_itself_or_when_signed_out(self, people: People) -> None:
        _, secret = await people.add_key("admin")
        first, token = await people.sign_in(secret, timedelta(hours=1))
        other, brief = await people.sign_in(secret, timedelta(milliseconds=200))
        assert await people.login(token) == first
        assert first.csrf != other.csrf
        await asyncio.sleep(0.3)
        with pytest.raises(NotFoundError, match="sign in"):
            await people.login(brief)
        await people.sign_out(token)
        await people.sign_out(token)
        with pytest.raises(NotFoundError):
            await people.login(token)

    @pytest.mark.parametrize(
        ("scope", "given"),
        [
            ("person", {}),
            ("admin", {"person": "ana"}),
            ("root", {}),
            ("admin", {"days": 0}),
            ("admin", {"days": float("nan")}),
            ("admin", {"label": "a\nb"}),
        ],
    )
    async def test_keys_that_make_no_sense_are_refused(self, people: People, scope: Any, given: dict[str, Any]) -> None:
        await people.add("ana")
        with pytest.raises(UsageError):
            await people.add_key(scope, **given)
        assert await people.keys() == []
