"""Who calls, and what their key reaches.

A program sends `Authorization: Bearer KEY`. The page exchanged its key for a login, an HttpOnly cookie: what then
changes anything needs the login's token (CSRF) beside it. The person is the key's own where it names one, whatever a
request says; only builders' and admins' keys may say for whom they ask.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Request
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from personable.errors import NotFoundError
from personable.people.key_store import Key, Scope
from personable.server.engine import Engine
from personable.server.problems import ProblemError

COOKIE, CSRF_HEADER, CSRF_FIELD = "personable_login", "X-CSRF-Token", "csrf"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
WRONG_KEYS_A_MINUTE = 20
_BEARER = HTTPBearer(auto_error=False, description="An API key, as `personable key add` shows it once.")
_COOKIE = APIKeyCookie(name=COOKIE, auto_error=False, description="The page's login.")


@dataclass(frozen=True)
class Caller:
    """Whose key a request came with; `csrf` is that of their login, "" where they sent the key itself."""

    key: Key
    csrf: str = ""

    def speaks_for(self, person: str | None) -> str | None:
        """The person that a request is about: the key's own, else the one that it names.

        Raises ProblemError where the key reaches somebody else.
        """
        own = self.key.person
        if own is not None and person not in (None, own):
            raise ProblemError(403, "this key reaches its own person alone; name nobody, or use a builder's key")
        return own if own is not None else person


class Limiter:
    """Requests a minute, counted in this process."""

    def __init__(self, rate: int) -> None:
        self._windows = MovingWindowRateLimiter(MemoryStorage())
        self._usual, self._wrong = RateLimitItemPerMinute(rate), RateLimitItemPerMinute(WRONG_KEYS_A_MINUTE)

    def count(self, key: str) -> None:
        """Raises ProblemError (429) once a key asked too often."""
        if not self._windows.hit(self._usual, "key", key):
            raise self._too_many(f"at most {self._usual.amount} requests a minute with one key")

    def count_wrong(self, address: str) -> None:
        """Raises ProblemError (429) once an address sent too many wrong keys."""
        if not self._windows.hit(self._wrong, "address", address):
            raise self._too_many("too many wrong keys from this address")

    @staticmethod
    def _too_many(detail: str) -> ProblemError:
        return ProblemError(429, f"{detail}; wait, then try again", {"Retry-After": "60"})


def engine_of(request: Request) -> Engine:
    """The engine of the app."""
    engine: Engine = request.app.state.engine
    return engine


async def caller(
    request: Request,
    sent: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)] = None,
    token: Annotated[str | None, Depends(_COOKIE)] = None,
) -> Caller:
    """Who calls. Raises ProblemError: 401 without a key that holds, 403 without the login's token, 429."""
    people, limiter = engine_of(request).people, limiter_of(request)
    try:
        if sent is not None:
            found = Caller(await people.key(sent.credentials))
        elif token is not None:
            login = await people.login(token)
            found = Caller(login.key, login.csrf)
        else:
            raise ProblemError(
                401, "send a key: Authorization: Bearer KEY (personable key add makes one)", _challenge()
            )
    except NotFoundError as error:
        limiter.count_wrong(request.client.host if request.client else "")
        raise ProblemError(401, str(error), _challenge()) from error
    limiter.count(found.key.id)
    request.scope["personable.key"] = found.key.id  # for the log
    if found.csrf and request.method not in SAFE:
        await _check_csrf(request, found.csrf)
    return found


async def key_caller(request: Request) -> Caller:
    """Who calls with a key, outside of FastAPI's routes; a login does not count. Raises what `caller` raises."""
    return await caller(request, await _BEARER(request))


def limiter_of(request: Request) -> Limiter:
    limiter: Limiter = request.app.state.limiter
    return limiter


async def _check_csrf(request: Request, expected: str) -> None:
    given = request.headers.get(CSRF_HEADER, "")
    if not given and request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        given = str((await request.form()).get(CSRF_FIELD, ""))
    if not secrets.compare_digest(given.encode(), expected.encode()):
        raise ProblemError(403, f"the login's token is missing or wrong; send it as {CSRF_HEADER}, or sign in again")


def _challenge() -> dict[str, str]:
    return {"WWW-Authenticate": "Bearer"}


class Needs:
    """A dependency: the caller's key has one of these scopes."""

    def __init__(self, *scopes: Scope) -> None:
        self.scopes = scopes

    def __call__(self, who: Annotated[Caller, Depends(caller)]) -> Caller:
        if who.key.scope not in self.scopes:
            raise ProblemError(403, f"this needs a key of the scope {' or '.join(self.scopes)}")
        return who


def _person(
    person: Annotated[str, Path(description="The person's id.")], who: Annotated[Caller, Depends(caller)]
) -> str:
    who.speaks_for(person)
    return person


AnyCaller = Annotated[Caller, Depends(caller)]
Builder = Annotated[Caller, Depends(Needs("builder", "admin"))]
Admin = Annotated[Caller, Depends(Needs("admin"))]
Person = Annotated[str, Depends(_person)]
"""A person named in the path, whom the caller's key reaches."""
TheEngine = Annotated[Engine, Depends(engine_of)]
