"""Values for JSON schemas: arguments of tools, and structured answers that somebody else's agent asks for."""

from __future__ import annotations

from math import inf
from typing import Any

#: How deep a value is nested at most; what is deeper is left empty.
_DEEPEST = 6


def value_for(schema: dict[str, Any], text: str) -> Any:
    """Return a value that `schema` allows, with `text` in its strings; only what is required is filled."""
    return _value(schema, text, schema.get("$defs", {}), 0)


def _value(schema: dict[str, Any], text: str, known: dict[str, Any], depth: int) -> Any:
    if "$ref" in schema:
        schema = known.get(str(schema["$ref"]).rpartition("/")[2], {})
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for several in ("anyOf", "oneOf", "allOf"):
        if schema.get(several):
            return _value(schema[several][0], text, known, depth)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            return _object(schema, text, known, depth)
        case "array":
            wanted = schema.get("minItems", 0) if depth < _DEEPEST else 0
            return [_value(schema.get("items", {}), text, known, depth + 1) for _ in range(wanted)]
        case "integer" | "number" as number:
            return _number(schema, whole=number == "integer")
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return text[: schema.get("maxLength")]


def _number(schema: dict[str, Any], *, whole: bool) -> int | float:
    """Return a number within the bounds of the schema: 1 where it is."""
    least, above = schema.get("minimum", -inf), schema.get("exclusiveMinimum", -inf)
    most, below = schema.get("maximum", inf), schema.get("exclusiveMaximum", inf)
    between: list[int | float] = [
        1,
        max(least, above),
        max(least, above) + 1,
        min(most, below),
        min(most, below) - 1,
    ]
    if not whole:
        between.append((max(least, above) + min(most, below)) / 2)
    return next((n for n in between if least <= n <= most and above < n < below), 1)


def _object(schema: dict[str, Any], text: str, known: dict[str, Any], depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = schema.get("required", ()) if depth < _DEEPEST else ()
    return {name: _value(properties.get(name, {}), text, known, depth + 1) for name in required}


def first_text(schema: dict[str, Any]) -> str | None:
    """Return the name of the first property that takes any text, required ones first; None without one."""
    properties = schema.get("properties", {})
    names = [*schema.get("required", ()), *properties]
    return next((name for name in names if _is_text(properties.get(name, {}))), None)


def _is_text(schema: dict[str, Any]) -> bool:
    kinds = [schema, *schema.get("anyOf", ())]
    return any(kind.get("type") == "string" and not {"enum", "const", "format"} & set(kind) for kind in kinds)
