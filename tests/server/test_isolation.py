"""Nobody reaches another: every route that names a person, whichever there are, and the person in a body."""

import re
from typing import Any

from fastapi.routing import APIRoute

from tests.server.conftest import Running, Start

NAMED = {"json": {"person": "ana"}}
SECRET = "lactose"


def routes_of_people(app: Any) -> list[tuple[str, str]]:
    """Method and address of every route with a person in it, with ana's id there."""
    found = []
    for route in _flat(app.routes):
        if "{person}" in route.path:
            path = re.sub(r"\{[^}]+\}", "x", route.path.replace("{person}", "ana"))
            found += [(method, path) for method in sorted(route.methods)]
    return found


def _flat(routes: Any) -> list[APIRoute]:
    found: list[APIRoute] = []
    for route in routes:
        inner = getattr(route, "original_router", None)
        found += _flat(inner.routes) if inner is not None else [route] if isinstance(route, APIRoute) else []
    return found


async def everything_about_ana(running: Running) -> str:
    held = await running.people.export("ana")
    return str({name: value for name, value in held.items() if name != "person"})


async def test_no_route_about_another_person_answers_a_persons_key(start: Start) -> None:
    running = await start()
    bob = await running.client("bob")
    routes, before = routes_of_people(running.app), await everything_about_ana(running)
    assert len(routes) >= 30
    for method, path in routes:
        for body in ({}, {"json": {}}, {"files": {"file": ("f", b"- I am bob")}}):
            refused = await bob.request(method, path, **body)
            assert refused.status_code == 403, (method, path, refused.text)
            assert SECRET not in refused.text
    assert await everything_about_ana(running) == before


async def test_a_person_who_is_there_cannot_be_told_from_one_who_is_not(start: Start) -> None:
    running = await start()
    bob = await running.client("bob")
    for method, path in routes_of_people(running.app):
        there, nowhere = await bob.request(method, path), await bob.request(method, path.replace("/ana", "/nobody"))
        assert (there.status_code, there.text) == (nowhere.status_code, nowhere.text)


async def test_without_a_key_no_route_about_people_answers(start: Start) -> None:
    running = await start()
    nobody = await running.client(None)
    for method, path in routes_of_people(running.app):
        assert (await nobody.request(method, path)).status_code == 401, (method, path)


async def test_an_answer_of_another_is_not_found_under_ones_own_id(start: Start) -> None:
    running = await start()
    ana, bob = await running.client("ana"), await running.client("bob")
    asked = {"question": "Can I eat yogurt with lactose intolerance?", "collection": "notes"}
    answer = (await ana.post("/v1/answer", json=asked)).json()["id"]
    statement = (await ana.get("/v1/people/ana/statements")).json()[0]["id"]
    for path in (f"answers/{answer}", f"answers/{answer}/board", f"answers/{answer}/why"):
        assert (await bob.get(f"/v1/people/bob/{path}")).status_code == 404
    assert (await bob.delete(f"/v1/people/bob/statements/{statement}")).status_code == 404
    assert (await bob.get(f"/v1/people/bob/statements/{statement}/changes")).json() == []
    assert (await ana.get("/v1/people/ana/statements")).json()[0]["id"] == statement
