"""The OpenAPI document is true: what schemathesis makes of it is answered as it says."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import httpx
import pytest

from plaudit.recipes import load
from plaudit.scores import Score
from plaudit.serve import serving

PROGRAM = Path(sys.executable).parent / "schemathesis"
# A column must be as long as the completions, for which JSON Schema has no words.
OPTIONS = """--exclude-checks positive_data_acceptance --phases examples,coverage,fuzzing
    --max-examples 5 --continue-on-failure""".split()


@pytest.fixture(scope="module")
def url():
    tasks = [{"prompt": "What is 2 + 2?", "solution": "4"}]
    with serving(load("trl-reasoning"), tasks=tasks) as address:
        yield address


@pytest.mark.long
def test_every_path_does_what_the_document_says(url, tmp_path):
    ended = subprocess.run(
        [PROGRAM, "run", f"{url}/openapi.json", *OPTIONS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stdout
    assert "25 selected / 25 total" in ended.stdout


def test_the_document_knows_every_path(url):
    document = httpx.get(f"{url}/openapi.json", timeout=60).json()
    assert document["openapi"] == "3.1.0"
    for path in document["paths"]:
        assert httpx.request("OPTIONS", f"{url}{path}", timeout=60).status_code == 405
    assert set(document["paths"]) > {"/v1/score", "/v1/rewards", "/openrlhf", "/slime", "/verl"}
    assert "securitySchemes" not in document["components"]


def test_the_document_knows_every_field_of_a_score(url):
    schemas = httpx.get(f"{url}/openapi.json", timeout=60).json()["components"]["schemas"]
    component = schemas["ScoredRow"]["properties"]["components"]["additionalProperties"]
    assert component["$ref"] == "#/components/schemas/ScoredComponent"
    assert set(schemas["ScoredComponent"]["properties"]) == {one.name for one in fields(Score)}
    assert schemas["ScoredComponent"]["required"] == ["value", "status"]


def test_a_guarded_server_says_so():
    with serving(load("trl-math"), token="sesame") as address:
        headers = {"authorization": "Bearer sesame"}
        document = httpx.get(f"{address}/openapi.json", headers=headers, timeout=60).json()
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "401" in document["paths"]["/v1/score"]["post"]["responses"]
    assert document["paths"]["/healthz"]["get"]["security"] == []
