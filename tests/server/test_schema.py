"""The OpenAPI description against the service: generated requests, no 5xx, every answer as it is
described.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings

schemathesis = pytest.importorskip("schemathesis")

CASES = int(os.environ.get("MONGE_CASES", "240"))
"""Generated requests over all operations; MONGE_CASES=2500 for the long run."""


@pytest.fixture(scope="module")
def described(client):
    return schemathesis.openapi.from_asgi("/openapi.json", client.app)


def test_every_answer_is_as_described(described, client):
    from schemathesis.checks import load_all_checks, not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    load_all_checks()
    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]
    operations = [one.ok() for one in described.get_all_operations()]
    rich = sum(bool(one.body or one.query or one.path_parameters) for one in operations)
    each, count = CASES // rich + 1, 0  # one without any of these has a single request

    for operation in operations:
        strategy = operation.as_strategy()

        @settings(
            max_examples=each, deadline=None, database=None, derandomize=True, phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=strategy)
        def ask(case):
            nonlocal count
            count += 1
            answer = case.call(session=client)
            case.validate_response(answer, checks=checks)

        ask()
    assert count >= CASES, count
