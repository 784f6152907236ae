"""Makes the list of endpoints in docs/serve.md from the service's own description (OpenAPI)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from metric_pages import DOCS, table

from monge.server.app import Config, create

PAGE = DOCS / "serve.md"
BEGIN, END = "<!-- endpoints: made by docs/reference/make.py -->", "<!-- end of endpoints -->"
_TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
}
Schema = Mapping[str, Any]


def serve_page() -> str:
    """docs/serve.md with the endpoints as the service describes them."""
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    return f"{head}{BEGIN}\n\n{endpoints()}\n\n{END}{rest.partition(END)[2]}"


def endpoints() -> str:
    """Every endpoint: what it does, what it takes with types and defaults, what it answers;
    refusals once.
    """
    described = create(Config(state=None)).openapi()
    schemas = described["components"]["schemas"]
    parts = [
        f"### {method.upper()} {path}\n\n" + "\n\n".join(_endpoint(operation, schemas))
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    return "\n\n".join([*parts, "### Refusals\n\n" + _refusals(described, schemas)])


def _endpoint(operation: Schema, schemas: Schema) -> Iterator[str]:
    yield " ".join(str(operation.get("description") or operation["summary"]).split())
    rows = [_field(one["name"], one["schema"], one.get("required", False), schemas, one["in"])
            for one in operation.get("parameters", ())]  # fmt: skip
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        body = _resolved(content["schema"], schemas)
        required, place = body.get("required", ()), "form" if "form" in kind else "body"
        rows += [
            _field(name, one, name in required, schemas, place)
            for name, one in body.get("properties", {}).items()
        ]
    if rows:
        yield table(("takes", "in", "type", "default", "meaning"), rows)
    for code, answer in operation["responses"].items():
        if code.startswith("2"):
            forms = [_answer(kind, one, schemas) for kind, one in answer.get("content", {}).items()]
            yield f"Answers {code}: {'; '.join(forms) or 'nothing'}."


def _answer(kind: str, content: Schema, schemas: Schema) -> str:
    body = _resolved(content.get("schema", {}), schemas)
    fields = ", ".join(
        f"`{name}` ({_type(one, schemas)})" for name, one in body.get("properties", {}).items()
    )
    return f"`{kind}`" + (f" with {fields}" if fields else "")


def _field(
    name: str, schema: Schema, required: bool, schemas: Schema, place: str
) -> tuple[str, ...]:
    default = (
        "required"
        if required
        else f"`{json.dumps(schema['default'])}`"
        if "default" in schema
        else "none"
    )
    limits = [f"{word} {schema[key]:,.0f}" for key, word in (("minimum", "at least"), ("maximum", "at most"))
              if key in schema]  # fmt: skip
    meaning = " ".join(str(schema.get("description", "")).split())
    told = " ".join(part for part in (meaning, f"({', '.join(limits)})" if limits else "") if part)
    return f"`{name}`", place, _type(schema, schemas), default, told


def _resolved(schema: Schema, schemas: Schema) -> Schema:
    reference = schema.get("$ref")
    return schemas[reference.rpartition("/")[2]] if reference else schema


def _type(schema: Schema, schemas: Schema) -> str:
    """A type in words; null is the default of what may be left out, and is not named."""
    if "$ref" in schema:
        fields = ", ".join(f"`{name}`" for name in _resolved(schema, schemas).get("properties", {}))
        return f"object of {fields}"
    if "anyOf" in schema:
        return " or ".join(
            dict.fromkeys(
                _type(one, schemas) for one in schema["anyOf"] if one.get("type") != "null"
            )
        )
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}), schemas)}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return (
            f"object of {_type(values, schemas)}"
            if isinstance(values, dict) and values
            else "object"
        )
    if kind == "string" and schema.get("format") == "binary":
        return "file"
    return _TYPES.get(kind, str(kind))


def _refusals(described: Schema, schemas: Schema) -> str:
    """Every code of a refusal, and the object that comes with it."""
    codes: dict[str, str] = {}
    for methods in described["paths"].values():
        for operation in methods.values():
            codes |= {
                code: one["description"]
                for code, one in operation["responses"].items()
                if not code.startswith("2")
            }
    fields = ", ".join(
        f"`{name}` ({_type(one, schemas)})"
        for name, one in schemas["Refused"]["properties"].items()
    )
    return (
        f"What is refused is one object: {fields}. Any endpoint may answer with these codes; a "
        f"busy service adds "
        "`Retry-After`.\n\n"
        + table(("code", "reason"), [(code, codes[code]) for code in sorted(codes)])
    )
