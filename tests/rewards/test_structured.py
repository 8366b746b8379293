"""Rewards for structured output: where the data is, schemas, fields, formats, limits."""

import json
import os
import subprocess
from pathlib import Path
from time import perf_counter

import pytest

from plaudit.rewards.structured import fields_reward, format_reward, json_schema_reward

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "pages": {"type": "integer", "minimum": 1},
        "printed": {"type": "string", "format": "date"},
    },
    "required": ["title", "pages"],
    "additionalProperties": False,
}
RIGHT = '{"title": "Os Lusíadas", "pages": 352}'


def score(text, schema=SCHEMA, **settings):
    return json_schema_reward.scores([text], schema, **settings)[0]


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        f"```json\n{RIGHT}\n```",
        f"~~~\n{RIGHT}\n~~~",
        f"```JSON\n{RIGHT}",
        f"Here it is: {RIGHT}\nIs that what you want?",
        f'<think>Maybe {{"title": 1}}?</think>\n{RIGHT}',
        f'```json\n{{"title": 1}}\n```\nNo, this:\n```json\n{RIGHT}\n```',
        f"For {{}} and {{that}} I write {RIGHT}",
        f"\ufeff{RIGHT}",
        [{"role": "assistant", "content": RIGHT}],
    ],
)
def test_where_the_json_is(text):
    assert score(text).why == "It is valid by the schema."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"title": "A", "pages": 0}', "pages: 0 is less than the minimum of 1."),
        ('{"title": "A", "pages": "9"}', 'pages: "9" is not of type "integer".'),
        ('{"title": "A"}', '"pages" is a required property.'),
        ('{"title": "A", "pages": NaN}', "It is not JSON: NaN is not JSON."),
        ("No book.", "It is not JSON: "),
        ("", "It is not JSON: "),
        (RIGHT + RIGHT, "It is not JSON: there are several values, expected one."),
        (RIGHT + "}", "It is not JSON: there is one bracket too many."),
        (f'{{"outer": {RIGHT}, "title":', "It is not JSON: "),
        (f"<think>{RIGHT}</think> Done.", "It is not JSON: "),
        (f"<think>{RIGHT}", "It is not JSON: "),
        (RIGHT.replace("}", ",}"), "It is not JSON: "),
        (RIGHT.replace('"', "'"), "It is not JSON: "),
    ],
)
def test_what_is_wrong(text, why):
    found = score(text)
    assert found.value == 0.0
    assert found.why.startswith(why)


def test_comments_and_trailing_commas_are_repaired_only_if_asked():
    text = '{\n  "title": "a // b", // a comment\n  "pages": 9, /* and\n another */\n}'
    assert score(text).value == 0.0
    assert score(text, repair=True).value == 1.0
    assert score("{'title': 'A', 'pages': 9}", repair=True).value == 0.0


def test_partial_credit_is_the_share_of_required_parts():
    assert score('{"title": "A", "pages": "9"}', partial=True).value == 0.5
    assert score('{"title": "A", "pages": 9, "more": 1}', partial=True).value == pytest.approx(
        2 / 3
    )
    assert score("{}", partial=True).value == 0.0
    assert score("[]", partial=True).value == 0.0
    assert score(RIGHT, partial=True).value == 1.0


def test_formats_and_drafts():
    date = '{"title": "A", "pages": 9, "printed": "1572-13-01"}'
    assert score(date).value == 0.0
    assert score(date, formats=False).value == 1.0
    whole = {"type": "integer"}
    assert score("1.0", whole).value == 1.0
    assert score("1.0", whole, draft="4").value == 0.0
    assert score("1.0", [json.dumps(whole)], draft=["4"]).value == 0.0
    with pytest.raises(ValueError, match="draft must be one of 4, 6, 7"):
        score("1", whole, draft="5")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "book"},
        {"properties": ["title"]},
        {"properties": {"title": {"pattern": "(open"}}},
        {"$ref": "https://schemas.invalid/book.json"},
        {"properties": {"title": {"$ref": "file:///etc/hostname"}}},
        {"$ref": "#/$defs/nowhere"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"allOf": [{"$ref": "#"}]},
        "{",
        None,
    ],
)
def test_a_schema_that_cannot_be_used_skips_the_row(schema):
    found = json_schema_reward.scores([RIGHT], [schema])[0]
    assert (found.value, found.status) == (None, "bad_gold")


def test_an_exploding_schema_is_refused():
    defs = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    schema = {"$defs": {**defs, "a40": {"type": "null"}}, "$ref": "#/$defs/a0"}
    assert "branches" in score("1", schema).why


TREE = {"type": "object", "properties": {"a": {"$ref": "#"}}}
BRANCHES = [
    {"properties": {"a": {"$ref": "#"}}},
    {"properties": {"a": {"$ref": "#"}}, "title": "b"},
]
HOSTILE = {
    "alternatives": ('{"a":' * 100 + "1" + "}" * 100, {"type": "object", "anyOf": BRANCHES}),
    "one of them": ('{"a":' * 100 + "1" + "}" * 100, {"type": "object", "oneOf": BRANCHES}),
    "all of them": ('{"a":' * 100 + "1" + "}" * 100, {"type": "object", "allOf": BRANCHES}),
    "deep arrays": ("[" * 10_000 + "]" * 10_000, {}),
    "deep objects": ('{"a":' * 10_000 + "1" + "}" * 10_000, TREE),
    "open braces": ("{" * 100_000, SCHEMA),
    "long": ("[" + "1," * 1_000_000 + '"x"]', {"items": {"type": "integer"}}),
    "backtracking": (f'"{"a" * 60}!"', {"pattern": "^(a+)+$"}),
    "backtracking forward": (f'"{"a" * 60}!"', {"pattern": "^(a|a)*(?=b)$"}),
    "fences": ("```\n" * 200_000, SCHEMA),
    "quotes": ('"' * 500_000, SCHEMA),
    "words": ("word " * 200_000, SCHEMA),
    "arrays in prose": ("[1,2,3,4]," * 100_000, SCHEMA),
    "empty brackets": ("a: [] {} " * 60_000, SCHEMA),
}


@pytest.mark.parametrize(("text", "schema"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_meet_a_limit(text, schema):
    started = perf_counter()
    assert score(text, schema).value == 0.0
    assert perf_counter() - started < 5


def test_fields_are_compared_as_their_types_ask():
    gold = {"name": "Torre de Belém", "year": 1519, "open": True, "tags": ["tower", "river"]}
    same = '{"name": "torre de Belém", "year": "1,519", "open": true, "tags": ["river", "tower"]}'
    assert fields_reward([same], [gold]) == [1.0]
    assert fields_reward([same], [gold], ordered=True) == [0.75]
    assert fields_reward(["{}"], [gold]) == [0.0]
    assert fields_reward(["no"], [gold]) == [0.0]
    assert fields_reward(['{"when": "3 May 2024"}'], ['{"when": "2024-05-03"}']) == [1.0]
    nested = {"a": {"b": 1, "c": 2}}
    found = fields_reward.scores(['{"a": {"b": 1, "c": 3}, "d": 4}'], [nested])[0]
    assert found.value == pytest.approx(1 / 3)
    assert found.why == "1 of 3 fields are right: a.c is 3, expected 2."
    assert fields_reward([same, same], [None, "{"]) == [None, None]
    with pytest.raises(TypeError, match="solution 0 must be an object or its JSON, got int: 5"):
        fields_reward(["{}"], [5])


FORMATS = {
    "yaml": ("a:\n- b: 1\n- b: 2", ["a[1].b", "a.*.b"], "a: [1"),
    "toml": ('[a]\nb = "x"\n[[a.c]]\nd = 1', ["a.b", "a.c[0].d"], "[a\nb = 1"),
    "xml": ('<a><b id="1">x</b><b>y</b></a>', ["a.b[1]", "a.b.*"], "<a><b></a>"),
    "csv": ('x,y\n1,"2, 3"\n', ["csv::x", "csv::y"], "x,y\n1\n"),
}


HOSTILE_FORMATS = {
    "a long number": "1" * 190_000,
    "a long float": "1." + "1" * 190_000,
    "hexadecimal digits": "0x" + "f" * 190_000,
    "base 60": "1" + ":1" * 90_000,
    "a long key": "9." * 90_000,
    "spaced parts": "word. " * 30_000,
    "a word": "z" * 199_000,
}


@pytest.mark.parametrize("kind", ["toml", "yaml"])
@pytest.mark.parametrize("text", HOSTILE_FORMATS.values(), ids=HOSTILE_FORMATS)
def test_hostile_numbers_and_keys_meet_a_limit(kind, text):
    started = perf_counter()
    equals = "= " if kind == "toml" else ": "
    values = format_reward([text, f"a {equals}{text}"], kind=kind)
    assert kind == "yaml" or values == [0.0, 0.0]
    assert perf_counter() - started < 5


@pytest.mark.parametrize("kind", FORMATS)
def test_other_formats(kind):
    text, paths, broken = FORMATS[kind]
    texts = [text, f"Here it is:\n\n```{kind}\n{text}\n```\nBye.", broken, "", f"```{kind}\n{text}"]
    cut = float(kind == "xml")  # only XML says where it ends
    assert format_reward(texts, [paths] * 5, kind=kind) == [1.0, 1.0, 0.0, 0.0, cut]
    found = format_reward.scores([text], [["nowhere.x"]], kind=kind)[0]
    assert (found.value, found.why) == (0.0, "nowhere.x is missing.")


def test_parsers_build_nothing_and_expand_nothing():
    bombs = "\n".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 30))
    assert format_reward([f"a0: &a0 [x]\n{bombs}"]) == [0.0]
    assert format_reward(["!!python/object/apply:os.getcwd []"]) == [0.0]
    entity = '<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>'
    assert format_reward([entity, "<a>" * 100_000], kind="xml") == [0.0, 0.0]
    assert format_reward(["a = " + "[" * 5_000], kind="toml") == [0.0]
    assert format_reward(["- " * 5_000], kind="yaml") == [0.0]
    with pytest.raises(ValueError, match='kind must be "yaml", "toml", "xml" or "csv"'):
        format_reward(["x"], kind="ini")


def test_real_and_own_rows(shared):
    file = shared / "families/structured/visible.jsonl"
    if not file.exists():
        pytest.skip("the rows of the family are not there")
    rows = [json.loads(line) for line in file.open(encoding="utf-8")]
    rows = [row for row in rows if not row.get("generate")]
    right = sum(_verdict(row) == row["right"] for row in rows)
    assert right >= 0.995 * len(rows)


def _verdict(row):
    if row["format"] != "json":
        return format_reward([row["completion"]], [row["paths"]], kind=row["format"]) == [1.0]
    draft = row["draft"] and row["draft"].removeprefix("draft")
    formats = row.get("assert_format") is not False
    value = json_schema_reward([row["completion"]], [row["schema"]], draft=draft, formats=formats)[
        0
    ]
    return None if value is None else value == 1.0


# A clone of the official JSON-Schema-Test-Suite: its git directory.
SUITE = Path(os.environ.get("JSON_SCHEMA_TEST_SUITE", ""))


@pytest.mark.parametrize("draft", ["4", "6", "7", "2019-09", "2020-12"])
def test_the_official_suite(draft):
    """All required tests but those that need another document: nothing is fetched."""
    if "JSON_SCHEMA_TEST_SUITE" not in os.environ:
        pytest.skip("JSON_SCHEMA_TEST_SUITE names no clone of the official suite")
    for file in _git("ls-tree", "--name-only", "HEAD", f"tests/draft{draft}/").split():
        groups = json.loads(_git("show", f"HEAD:{file}")) if file.endswith(".json") else []
        for group in groups:
            texts = [json.dumps(test["data"]) for test in group["tests"]]
            found = json_schema_reward.scores(texts, [group["schema"]] * len(texts), draft, False)
            for test, one in zip(group["tests"], found, strict=True):
                is_remote = one.value is None and "localhost:1234" in one.problem
                assert is_remote or one.value == test["valid"], (file, test["description"], one)


def _git(*arguments):
    command = ["git", "--git-dir", str(SUITE), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
