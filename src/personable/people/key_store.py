"""The part of the store that keeps API keys, and who is signed in with one: digests only, never a key itself."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import Literal, NamedTuple

from sqlalchemy import ColumnElement, delete, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from personable.errors import NotFoundError, UsageError
from personable.people import schema
from personable.people.base import Store, one_of
from personable.people.checks import Instant, checked_line
from personable.people.events import now
from personable.people.statements import new_id
from personable.types import Value

Scope = Literal["person", "builder", "admin"]
"""What a key reaches: one person; everybody and the collections; that and the keys."""

PREFIX = "pk_"
_KEYS, _LOGINS = schema.keys.c, schema.logins.c
_FIELDS = (_KEYS.id, _KEYS.label, _KEYS.scope, _KEYS.person, _KEYS.created, _KEYS.expires)


class Key(Value):
    """An API key as it may be shown. `person` is set for the scope "person" alone; `expires` None: it does not."""

    id: str
    label: str = ""
    scope: Scope
    person: str | None = None
    created: Instant
    expires: Instant | None = None


class Login(NamedTuple):
    """Somebody signed in with `key`. What changes anything has to bring `csrf` along."""

    key: Key
    csrf: str


class KeyStore(Store):
    """Keys and logins. A key is random (256 bits), so that its SHA-256 tells nothing of it and needs no salt."""

    async def add_key(
        self, scope: Scope, person: str | None = None, *, label: str = "", days: float | None = None
    ) -> tuple[Key, str]:
        """A new key, and the secret that is shown this once. `days` is how long it holds (None: until it is revoked).

        Raises UsageError for a person without the scope "person" or the other way round, and for `days` of no length.
        """
        one_of(Scope, scope, "scope")
        if (scope == "person") != (person is not None):
            raise UsageError("a key of the scope person names the person that it reaches; other keys name none")
        if days is not None and not 0 < days < 36_500:
            raise UsageError(f"a key holds for more than 0 and less than 36500 days, not {days:g}")
        created, secret = now(), PREFIX + secrets.token_urlsafe(32)
        made = Key(
            id=new_id(),
            label=checked_line(label, "label"),
            scope=scope,
            person=person,
            created=created,
            expires=None if days is None else created + timedelta(days=days),
        )
        async with self._write() as connection:
            if person is not None:
                await self._known(connection, person, lock=True)
            await connection.execute(insert(schema.keys).values(digest=_digest(secret), **made.model_dump()))
        return made, secret

    async def keys(self, person: str | None = None) -> list[Key]:
        """All keys, or those that reach one person alone; oldest first, expired ones too."""
        query = select(*_FIELDS).order_by(_KEYS.created, _KEYS.id)
        if person is not None:
            query = query.where(_KEYS.person == person)
        async with self._read() as connection:
            return [Key(**row._mapping) for row in await connection.execute(query)]

    async def key(self, secret: str) -> Key:
        """The key with this secret. Raises NotFoundError for an unknown, revoked or expired one."""
        async with self._read() as connection:
            return await self._key(connection, _KEYS.digest == _digest(secret))

    async def revoke_key(self, id: str) -> None:
        """Make a key worthless, and sign out who came with it. Raises NotFoundError."""
        async with self._write() as connection:
            if not (await connection.execute(delete(schema.keys).where(_KEYS.id == id))).rowcount:
                raise NotFoundError(f"no key {id!r}; personable key list shows them")

    async def sign_in(self, secret: str, lasting: timedelta) -> tuple[Login, str]:
        """Exchange a key for a login and its token, which is shown this once. Raises NotFoundError as `key` does."""
        token, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
        async with self._write() as connection:
            found = await self._key(connection, _KEYS.digest == _digest(secret))
            await connection.execute(delete(schema.logins).where(_LOGINS.expires <= now()))
            row = {"digest": _digest(token), "key": found.id, "csrf": csrf, "expires": now() + lasting}
            await connection.execute(insert(schema.logins).values(row))
        return Login(found, csrf), token

    async def login(self, token: str) -> Login:
        """Who is signed in with this token. Raises NotFoundError once it, or its key, ended."""
        query = select(*_FIELDS, _LOGINS.csrf).join(schema.logins, _LOGINS.key == _KEYS.id)
        async with self._read() as connection:
            found = (
                await connection.execute(
                    query.where(_LOGINS.digest == _digest(token), _LOGINS.expires > now(), _holding())
                )
            ).first()
        if found is None:
            raise NotFoundError("you are not signed in any more; sign in with your key")
        return Login(Key(**{name: value for name, value in found._mapping.items() if name != "csrf"}), found.csrf)

    async def sign_out(self, token: str) -> None:
        """End a login; an unknown one is no error."""
        async with self._write() as connection:
            await connection.execute(delete(schema.logins).where(_LOGINS.digest == _digest(token)))

    async def _key(self, connection: AsyncConnection, condition: ColumnElement[bool]) -> Key:
        row = (await connection.execute(select(*_FIELDS).where(condition, _holding()))).first()
        if row is None:
            raise NotFoundError("the key is unknown, revoked or expired")
        return Key(**row._mapping)


def _holding() -> ColumnElement[bool]:
    return or_(_KEYS.expires.is_(None), _KEYS.expires > now())


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
