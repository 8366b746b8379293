"""The OpenAPI document is true: what schemathesis makes of it is answered as it says."""

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS
from schemathesis.specs.openapi.checks import positive_data_acceptance

from plaudit.recipes import load
from plaudit.serve import serving

# A column must be as long as the completions, for which JSON Schema has no words.
NOT_SAID = [positive_data_acceptance]


@pytest.fixture(scope="module")
def url():
    with serving(load("trl-reasoning")) as address:
        yield address


@pytest.fixture(scope="module")
def api(url):
    return schemathesis.openapi.from_url(f"{url}/openapi.json")


schema = schemathesis.pytest.from_fixture("api")


@schema.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_path_does_what_the_document_says(case):
    case.call_and_validate(excluded_checks=NOT_SAID)


def test_the_document_knows_every_path(url):
    document = httpx.get(f"{url}/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    for path in document["paths"]:
        assert httpx.request("OPTIONS", f"{url}{path}").status_code == 405
    assert set(document["paths"]) > {"/v1/score", "/v1/rewards", "/openrlhf", "/slime", "/verl"}
    assert "securitySchemes" not in document["components"]


def test_a_guarded_server_says_so():
    with serving(load("trl-math"), token="sesame") as address:
        headers = {"authorization": "Bearer sesame"}
        document = httpx.get(f"{address}/openapi.json", headers=headers).json()
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "401" in document["paths"]["/v1/score"]["post"]["responses"]
    assert document["paths"]["/healthz"]["get"]["security"] == []


def test_schemathesis_checks_what_we_think_it_does():
    assert {"not_a_server_error", "negative_data_rejection"} <= set(CHECKS.get_all_names())
