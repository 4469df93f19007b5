"""The routers of the page."""

from __future__ import annotations

from personable.server.web import ask, benchmarks, certified, collections, for_you, signing, you

ROUTERS = tuple(one.router for one in (signing, ask, you, for_you, certified, collections, benchmarks))
