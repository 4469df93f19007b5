"""API keys: only admins see, make and revoke them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field

from personable.people.checks import ID_LENGTH
from personable.people.key_store import Key, Scope
from personable.server.access import Admin, TheEngine
from personable.server.problems import documented
from personable.types import Value

router = APIRouter(prefix="/v1/keys", tags=["keys"])


class NewKey(Value):
    """A key; one of the scope `person` names the person. `days` is how long it holds (None: until it is revoked)."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"scope": "person", "person": "ana", "days": 30}]})
    scope: Scope
    person: str | None = Field(None, min_length=1, max_length=ID_LENGTH)
    label: str = Field("", max_length=ID_LENGTH)
    days: float | None = Field(None, gt=0, lt=36_500)


class MadeKey(Value):
    """A new key; `secret` is shown this once, as only its digest is kept."""

    key: Key
    secret: str


@router.get("", responses=documented())
async def list_keys(
    _: Admin,
    engine: TheEngine,
    person: Annotated[str | None, Query(max_length=ID_LENGTH, description="Only those that reach this person.")] = None,
) -> list[Key]:
    """List the keys, without their secrets."""
    return await engine.people.keys(person)


@router.post("", status_code=201, responses=documented(404))
async def make_key(_: Admin, body: NewKey, engine: TheEngine) -> MadeKey:
    """Make a key; the secret is shown this once."""
    key, secret = await engine.people.add_key(body.scope, body.person, label=body.label, days=body.days)
    return MadeKey(key=key, secret=secret)


@router.delete("/{key}", status_code=204, responses=documented(404))
async def revoke_key(_: Admin, key: Annotated[str, Path(description="The key's id.")], engine: TheEngine) -> None:
    """Make a key worthless, and sign out who came with it."""
    await engine.people.revoke_key(key)
