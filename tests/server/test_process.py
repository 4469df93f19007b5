"""The command `serve` as a process: how it stops, what it logs, where its spans go."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx2 as httpx
import pytest

from personable.people.store import People
from tests.server.conftest import EMBEDDER, events

pytestmark = pytest.mark.slow
COMMAND = (sys.executable, "-c", "from personable.cli import main; main()", "serve")
ASK = {"question": "How much water should I drink?", "collection": "notes", "stream": True}


class Provider(BaseHTTPRequestHandler):
    """An OpenAI-compatible model that answers every call once it may; and whoever takes spans."""

    may_answer, asked, spans = Event(), Event(), Event()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/traces":
            assert b"invoke_workflow" in body
            assert b"water" not in body
            self.spans.set()
            self._send(b"", "application/x-protobuf")
            return
        self.asked.set()
        self.may_answer.wait(60)
        text = "Drink 2 to 3 liters of water a day [1]."
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "1", "created": 1, "model": "m"}
        if json.loads(body).get("stream"):
            chunk = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            piece = head | {"object": "chat.completion.chunk", "choices": [chunk], "usage": usage}
            self._send(f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n".encode(), "text/event-stream")
            return
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        whole = head | {"object": "chat.completion", "choices": [choice], "usage": usage}
        self._send(json.dumps(whole).encode(), "application/json")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def provider() -> Any:
    Provider.may_answer, Provider.asked, Provider.spans = Event(), Event(), Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    Provider.may_answer.set()
    server.shutdown()
    server.server_close()


@asynccontextmanager
async def serving(home: Path, **environment: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """The process, once it answers, and its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, "--port", str(port), "--home", str(home)),
        env={**os.environ, "PERSONABLE_EMBEDDER": EMBEDDER, **environment},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with httpx.AsyncClient() as client:
            while process.returncode is None:
                try:
                    await client.get(f"http://127.0.0.1:{port}/readyz", timeout=5)
                    break
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
        yield process, port
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.fixture
async def home(stocked: Path, tmp_path: Path) -> Path:
    shutil.copytree(stocked, tmp_path / "home")
    return tmp_path / "home"


async def key_of(home: Path) -> str:
    async with await People.open(home / "people.db") as people:
        return (await people.add_key("builder"))[1]


async def test_told_to_stop_it_finishes_the_answer_takes_no_new_one_and_ends_well(home: Path, provider: str) -> None:
    key = await key_of(home)
    settings = {
        "PERSONABLE_MODEL": "server:m",
        "PERSONABLE_MODEL_URL": f"{provider}/v1",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    async with serving(home, **settings, OTEL_EXPORTER_OTLP_ENDPOINT=provider) as (process, port):
        address = f"http://127.0.0.1:{port}"
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx.AsyncClient(headers=headers, timeout=60) as client,
            client.stream("POST", f"{address}/v1/answer", json=ASK) as response,
        ):
            parts = response.aiter_text()
            told = await anext(parts)
            assert await asyncio.to_thread(Provider.asked.wait, 60)
            process.send_signal(signal.SIGTERM)
            async with httpx.AsyncClient(headers=headers) as other:
                for _ in range(200):
                    try:
                        await other.get(f"{address}/healthz")
                        await asyncio.sleep(0.05)
                    except httpx.ConnectError as error:
                        refused = error
                        break
            assert isinstance(refused, httpx.ConnectError)
            assert process.returncode is None
            Provider.may_answer.set()
            async for part in parts:
                told += part
        name, final = events(told)[-1]
        assert (name, final["result"]["found"]) == ("final", True)
        assert process.stderr is not None
        lines = [json.loads(line) for line in (await process.stderr.read()).splitlines()]
        assert await process.wait() == 0
    assert await asyncio.to_thread(Provider.spans.wait, 5)
    asked = [line for line in lines if line.get("route") == "/v1/answer"]
    assert [(line["status"], line["whole"]) for line in asked] == [(200, True)]
    assert "Finished server process" in " ".join(line["message"] for line in lines)


async def test_a_port_that_is_taken_is_an_error_of_configuration(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = await asyncio.create_subprocess_exec(
            *(*COMMAND, "--home", str(home)),
            *("--port", str(taken.getsockname()[1])),
            env={**os.environ, "PERSONABLE_EMBEDDER": EMBEDDER},
            stderr=asyncio.subprocess.PIPE,
        )
        _, said = await process.communicate()
    assert process.returncode == 3
    assert b"choose another with --host and --port" in said
