"""The routers of the page."""

from __future__ import annotations

from personable.server.web import ask, signing, you

ROUTERS = (signing.router, ask.router, you.router)
