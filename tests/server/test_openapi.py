"""The OpenAPI document: whole enough to write a client from."""

from typing import Any

import pytest
from fastapi import FastAPI

from personable.embed import make_embedder
from personable.kit import Kit, open_people
from personable.server.app import build_app
from personable.settings import Settings

Operation = tuple[str, dict[str, Any]]
WITHOUT_KEY = ("/healthz", "/readyz", "/metrics")
OPENAI = ("/v1/models", "/v1/chat")


@pytest.fixture
async def app(tmp_path: Any) -> Any:
    settings = Settings(home=tmp_path)
    async with await open_people(settings) as people:
        yield build_app(Kit(settings, people=people, embedder=make_embedder("hash:64")))


def operations(app: FastAPI) -> list[Operation]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in app.openapi()["paths"].items()
        for method, operation in methods.items()
    ]


def ours(app: FastAPI) -> list[Operation]:
    """Operations that ask for a key and speak problem details."""
    return [
        (label, operation)
        for label, operation in operations(app)
        if not label.split()[1].startswith((*WITHOUT_KEY, *OPENAI))
    ]


def test_every_operation_says_what_it_does_and_under_which_noun(app: FastAPI) -> None:
    found = operations(app)
    assert len(found) > 60
    assert [label for label, one in found if not one.get("description") or not one.get("tags")] == []
    ids = [one["operationId"] for _, one in found]
    assert len(ids) == len(set(ids))


def test_every_operation_documents_its_errors_as_problems(app: FastAPI) -> None:
    for label, one in ours(app):
        assert {"400", "401", "403", "413", "422", "429", "503"} <= set(one["responses"]), label
        for status, response in one["responses"].items():
            if int(status) >= 400:
                assert list(response["content"]) == ["application/problem+json"], (label, status)


def test_whatever_names_something_may_not_find_it(app: FastAPI) -> None:
    for label, one in ours(app):
        if "{" in label:
            assert "404" in one["responses"], label


def test_every_success_has_a_body_that_is_described(app: FastAPI) -> None:
    for label, one in ours(app):
        [(status, response)] = [pair for pair in one["responses"].items() if int(pair[0]) < 400]
        assert (status == "204") != bool(response.get("content")), label
        for media in response.get("content", {}).values():
            assert media["schema"], label


def test_every_body_has_an_example_and_takes_nothing_unknown(app: FastAPI) -> None:
    schemas = app.openapi()["components"]["schemas"]
    for label, one in ours(app):
        for kind, media in one.get("requestBody", {}).get("content", {}).items():
            if kind != "application/json":
                continue
            body = schemas[media["schema"]["$ref"].rpartition("/")[2]]
            told = [
                *body.get("examples", []),
                *(one for p in body["properties"].values() for one in p.get("examples", [])),
            ]
            assert told, label
            assert body["additionalProperties"] is False, label
