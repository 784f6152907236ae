"""The list of endpoints in docs/serve.md, from the service's own description (OpenAPI)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reference_pages.metrics import make_table
from repository import DOCS, fill_block

from monge.server.app import Config, create

PAGE = DOCS / "serve.md"
_TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
}
Schema = Mapping[str, Any]


def make_serve_page() -> str:
    """Return docs/serve.md with the endpoints as the service describes them."""
    return fill_block(PAGE.read_text("utf-8"), "endpoints", f"\n{list_endpoints()}\n")


def list_endpoints() -> str:
    """Return every endpoint: what it does, takes and answers; refusals are listed once."""
    openapi = create(Config(state=None)).openapi()
    schemas = openapi["components"]["schemas"]
    parts = [
        f"### {method.upper()} {path}\n\n" + "\n\n".join(_describe_endpoint(operation, schemas))
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    return "\n\n".join([*parts, "### Refusals\n\n" + _list_refusals(openapi, schemas)])


def _describe_endpoint(operation: Schema, schemas: Schema) -> Iterator[str]:
    """Yield the description, the table of parameters and the answers of an operation."""
    yield " ".join(str(operation.get("description") or operation["summary"]).split())
    rows = [
        _describe_field(
            parameter["name"],
            parameter["schema"],
            parameter.get("required", False),
            schemas,
            parameter["in"],
        )
        for parameter in operation.get("parameters", ())
    ]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        body = _resolve(content["schema"], schemas)
        required, place = body.get("required", ()), "form" if "form" in kind else "body"
        rows += [
            _describe_field(name, schema, name in required, schemas, place)
            for name, schema in body.get("properties", {}).items()
        ]
    if rows:
        yield make_table(("takes", "in", "type", "default", "meaning"), rows)
    for code, answer in operation["responses"].items():
        if code.startswith("2"):
            forms = [
                _describe_answer(kind, content_schema, schemas)
                for kind, content_schema in answer.get("content", {}).items()
            ]
            yield f"Answers {code}: {'; '.join(forms) or 'nothing'}."


def _describe_answer(kind: str, content: Schema, schemas: Schema) -> str:
    """Return the media type of an answer and its fields."""
    body = _resolve(content.get("schema", {}), schemas)
    fields = ", ".join(
        f"`{name}` ({_name_type(schema, schemas)})"
        for name, schema in body.get("properties", {}).items()
    )
    return f"`{kind}`" + (f" with {fields}" if fields else "")


def _describe_field(
    name: str, schema: Schema, required: bool, schemas: Schema, location: str
) -> tuple[str, ...]:
    """Return the table row of a parameter."""
    default = (
        "required"
        if required
        else f"`{json.dumps(schema['default'])}`"
        if "default" in schema
        else "none"
    )
    limits = [
        f"{word} {schema[key]:,.0f}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"))
        if key in schema
    ]
    meaning = " ".join(str(schema.get("description", "")).split())
    text = " ".join(part for part in (meaning, f"({', '.join(limits)})" if limits else "") if part)
    return f"`{name}`", location, _name_type(schema, schemas), default, text


def _resolve(schema: Schema, schemas: Schema) -> Schema:
    """Return the schema that a reference points to, or the schema itself."""
    reference = schema.get("$ref")
    return schemas[reference.rpartition("/")[2]] if reference else schema


def _name_type(schema: Schema, schemas: Schema) -> str:
    """Return a type in words; null stands for "may be left out" and is not named."""
    if "$ref" in schema:
        fields = ", ".join(f"`{name}`" for name in _resolve(schema, schemas).get("properties", {}))
        return f"object of {fields}"
    if "anyOf" in schema:
        return " or ".join(
            dict.fromkeys(
                _name_type(option, schemas)
                for option in schema["anyOf"]
                if option.get("type") != "null"
            )
        )
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_name_type(schema.get('items', {}), schemas)}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return (
            f"object of {_name_type(values, schemas)}"
            if isinstance(values, dict) and values
            else "object"
        )
    if kind == "string" and schema.get("format") == "binary":
        return "file"
    return _TYPES.get(kind, str(kind))


def _list_refusals(openapi: Schema, schemas: Schema) -> str:
    """Return every refusal code, and the object that comes with it."""
    codes: dict[str, str] = {}
    for methods in openapi["paths"].values():
        for operation in methods.values():
            codes |= {
                code: response["description"]
                for code, response in operation["responses"].items()
                if not code.startswith("2")
            }
    fields = ", ".join(
        f"`{name}` ({_name_type(schema, schemas)})"
        for name, schema in schemas["Refused"]["properties"].items()
    )
    return (
        f"What is refused is one object: {fields}. Any endpoint may answer with these codes; a "
        f"busy service adds "
        "`Retry-After`.\n\n"
        + make_table(("code", "reason"), [(code, codes[code]) for code in sorted(codes)])
    )
