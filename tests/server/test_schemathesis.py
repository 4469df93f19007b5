"""Schemathesis over the OpenAPI document, against the running server: whatever is sent, no route fails with a server
error or a status that is not documented, and every response is what its schema says."""

from __future__ import annotations

import asyncio
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2 as httpx
import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from personable.kit import Kit, open_kit
from personable.pipelines.answer import answer
from personable.server.app import build_app
from personable.settings import Settings
from personable.types import Question
from tests.server.conftest import EMBEDDER

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ID = {"document": "gout", "passage": "gout#0"}
BODIES: dict[str, dict[str, Any]] = {
    "answer": {"collection": "notes", "person": "ana", "question": "What is gout?"},
    "converse": {"collection": "notes", "person": "ana", "question": "What is gout?"},
    "recommend": {"collection": "shop", "person": "ana", "session": None},
    "certify": {"collection": "leaflets", "person": "ana"},
    "completions": {"model": "answer/notes", "messages": [{"role": "user", "content": "What is gout?"}]},
}
EXAMPLES = 5
"""Of each operation and kind: requests as documented, and requests that are not."""
QUIET = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Open(NamedTuple):
    """A server that runs in its own thread: its address, an admin's key, and ids of what is there."""

    address: str
    key: str
    known: dict[str, str]


@pytest.fixture(scope="module")
def opened(stocked: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    home = tmp_path_factory.mktemp("open") / "home"
    shutil.copytree(stocked, home)
    begun: list[Any] = []
    ready = threading.Event()

    async def serve() -> None:
        async with await open_kit(Settings(home=home, embedder=EMBEDDER, server_rate=1_000_000)) as kit:
            key, known = await _furnished(kit)
            bound = socket.create_server(("127.0.0.1", 0))
            server = uvicorn.Server(uvicorn.Config(build_app(kit), log_config=None, timeout_graceful_shutdown=5))
            begun.extend([server, Open(f"http://127.0.0.1:{bound.getsockname()[1]}", key, known)])
            ready.set()
            await server.serve(sockets=[bound])

    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    assert ready.wait(60)
    yield begun[1]
    begun[0].should_exit = True
    thread.join(60)


async def _furnished(kit: Kit) -> tuple[str, dict[str, str]]:
    assert kit.people is not None
    await kit.people.add("ana")
    told = await kit.people.tell("ana", "I have lactose intolerance", sensitive=False)
    over = await kit.over("notes", kit.embedder)
    asked = Question(text="Can I eat yogurt with lactose intolerance?", person="ana", session="s", dial="on")
    kept = await answer(over, asked)
    assert over.store is not None
    over.store.close()
    known = {"person": "ana", "statement": told.id, "answer": kept.id, "session": "s", "collection": "notes"}
    return (await kit.people.add_key("admin"))[1], known


def _name_what_is_there(case: Any, known: dict[str, str]) -> None:
    """Names drawn at random are hardly ever those of something."""
    case.path_parameters = {name: known.get(name, value) for name, value in case.path_parameters.items()}
    place = case.path.rpartition("/")[2]
    if place in ID and isinstance(case.query, dict):
        case.query = {**case.query, "id": ID[place]}
    if place in BODIES and isinstance(case.body, dict):
        case.body = {**case.body, **BODIES[place]}


@pytest.mark.slow
def test_every_operation_keeps_to_its_document(opened: Open) -> None:
    document = httpx.get(f"{opened.address}/openapi.json", timeout=120).json()
    schema = schemathesis.openapi.from_dict(document)
    wrong, answered = [], dict[str, set[int]]()
    for found in schema.get_all_operations():
        operation = found.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query or operation.path_parameters):
                continue  # nothing to be wrong in
            try:
                answered.setdefault(operation.label, set()).update(_try(operation, mode, opened))
            except (FailureGroup, Failure) as error:  # all that is wrong is told at once
                wrong.append(f"{operation.label} ({mode.value}): {error}")
    assert not wrong, "\n\n".join(wrong)
    served = {label for label, statuses in answered.items() if any(status < 300 for status in statuses)}
    assert len(served) > len(answered) * 0.6, f"hardly any route was really reached: {sorted(served)}"


def _try(operation: Any, mode: GenerationMode, opened: Open) -> set[int]:
    """The statuses that an operation answered with."""
    statuses = set[int]()

    @QUIET
    @given(case=operation.as_strategy(generation_mode=mode), known=st.booleans())
    def check(case: Any, known: bool) -> None:
        if known and case.method != "DELETE":
            _name_what_is_there(case, opened.known)
        headers = {"Authorization": f"Bearer {opened.key}"}
        response = case.call_and_validate(base_url=opened.address, headers=headers, checks=CHECKS)
        statuses.add(response.status_code)

    check()
    return statuses
