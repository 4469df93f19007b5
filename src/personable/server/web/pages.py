"""The routers of the page."""

from __future__ import annotations

from personable.server.web import ask, benchmarks, certified, collections, for_you, signing, you

ROUTERS = (signing.router, ask.router, you.router, for_you.router, certified.router, collections.router, benchmarks.router)
