"""The form of a typed output in few words, for a model that does not see its JSON schema."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]


def form(output: type[BaseModel]) -> str:
    """The form that `output` wants filled in: names, types, bounds and descriptions of its fields.

    Fields that can have only one value (a discriminator) are left out; their default fills them in.
    """
    schema = output.model_json_schema()
    wanted = _kind(schema, schema.get("$defs", {}), top=True)
    return f"Answer with one JSON object in this form and nothing else:\n{wanted}"


def _kind(schema: Schema, defined: dict[str, Schema], *, top: bool = False) -> str:
    """The type of a value in a notation that models know from TypeScript."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        inner = {other: one for other, one in defined.items() if other != name}  # a form that holds itself ends here
        return _kind(defined.get(name, {"type": "object"}), inner)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(_kind(one, defined) for one in schema[several]))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
    if schema.get("type") == "array":
        return f"[{_kind(schema.get('items', {}), defined)}, …]"
    if "properties" in schema:
        return _object(schema, defined, top)
    return str(schema.get("type", "any value"))


def _object(schema: Schema, defined: dict[str, Schema], top: bool) -> str:
    fields = []
    for name, field in schema["properties"].items():
        if "const" in field:
            continue
        notes = [field.get("description", ""), _bounds(field)]
        said = ", ".join(note for note in notes if note)
        fields.append(f'"{name}": {_kind(field, defined)}' + (f" ({said})" if said else ""))
    return "{\n  " + ",\n  ".join(fields) + "\n}" if top else "{" + ", ".join(fields) + "}"


def _bounds(field: Schema) -> str:
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    most = field.get("maxItems") or field.get("maxLength")
    return f"at most {most}" if most else ""
