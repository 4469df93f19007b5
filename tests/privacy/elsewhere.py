"""A server on loopback that stands for everything elsewhere: it keeps every byte it was sent, and answers sensibly."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from personable.embed import make_embedder

_HASHED = make_embedder("hash:256")
NOTES = {
    "profile": {"summary": "somebody", "proposed": []},
    "queries": {"queries": ["what helps against thirst"]},
    "session": {"need": "to know", "next_questions": []},
    "order": {"order": [1], "reason": "it fits"},
    "feedback": {"ask": "", "record": []},
    "draft": {"reasoning": "see [1]", "answer": "Lentils [1]"},
}
FIELDS = {field: value for note in NOTES.values() for field, value in note.items()}


@dataclass
class Elsewhere:
    """`chats` and `embeddings` hold the requests: head and body as they came over the wire."""

    url: str = ""
    chats: list[str] = field(default_factory=list)
    embeddings: list[str] = field(default_factory=list)

    @property
    def sent(self) -> str:
        return "\n".join(self.chats + self.embeddings)


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    """A server that answers chat completions and embeddings until the block ends."""
    kept = Elsewhere()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked = json.loads(body)
            whole = f"{self.path}\n{self.headers}\n{body}\n{json.dumps(asked, ensure_ascii=False)}"
            if self.path.endswith("/embeddings"):
                kept.embeddings.append(whole)
                rows = enumerate(_HASHED.passages(asked["input"]).tolist())
                self.reply({"data": [{"index": n, "embedding": vector} for n, vector in rows]})
            else:
                kept.chats.append(whole)
                self.stream() if asked.get("stream") else self.reply(_completion(_form(asked)))

        def reply(self, value: dict[str, Any]) -> None:
            self.send("application/json", json.dumps(value).encode())

        def stream(self) -> None:
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            delta = {"index": 0, "delta": {"content": "Lentils are rich in iron [1]."}, "finish_reason": None}
            end = {"index": 0, "delta": {}, "finish_reason": "stop"}
            lines = [json.dumps({**chunk, "choices": [choice]}) for choice in (delta, end)]
            self.send("text/event-stream", "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode())

        def send(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield kept
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def _form(asked: dict[str, Any]) -> str:
    """The notes or the fields that the request names, by its schema or in words."""
    text = json.dumps(asked).replace("\\", "")
    whole = {name: note for name, note in NOTES.items() if f'"{name}"' in text}
    fields = {name: value for name, value in FIELDS.items() if f'"{name}"' in text}
    return json.dumps(whole if len(whole) == len(NOTES) else fields)


def _completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
