"""Rewards for calls of tools: formats, golds, comparison, reasons, limits."""

import json
from time import perf_counter

import pytest

from plaudit.rewards.tools import bfcl_reward, tool_call_reward, tool_schema_reward

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "book_table",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string"},
                    "guests": {"type": "integer"},
                    "area": {"type": "string", "enum": ["inside", "terrace"], "default": "inside"},
                    "budget": {"type": "number"},
                    "wishes": {"type": "array", "items": {"type": "string"}},
                    "contact": {"type": "object", "properties": {"name": {"type": "string"}}},
                },
                "required": ["place", "guests"],
            },
        },
    },
    {"name": "cancel", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}}}},
]
GOLD = [{"name": "book_table", "arguments": {"place": "Ana's", "guests": 4}}]
ARGUMENTS = json.dumps(GOLD[0]["arguments"])


def score(completion, gold=GOLD, tools=TOOLS, **settings):
    return tool_call_reward.scores([completion], [gold], tools and [tools], **settings)[0]


FORMATS = {
    "OpenAI": {"tool_calls": [{"function": {"name": "book_table", "arguments": ARGUMENTS}}]},
    "an object": {"tool_calls": [{"function": GOLD[0]}]},
    "function_call": {"role": "assistant", "content": "", "function_call": GOLD[0]},
    "responses": [{"type": "function_call", "name": "book_table", "arguments": ARGUMENTS}],
    "Anthropic": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "One moment."},
            {"type": "tool_use", "name": "book_table", "input": GOLD[0]["arguments"]},
        ],
    },
    "Gemini": {"role": "model", "parts": [{"functionCall": {**GOLD[0], "args": {}}}]},
    "Hermes": f"<tool_call>\n{json.dumps(GOLD[0])}\n</tool_call>",
    "Llama": f'<|python_tag|>{{"name": "book_table", "parameters": {ARGUMENTS}}}<|eom_id|>',
    "Llama's XML": f"<function=book_table>{ARGUMENTS}</function>",
    "Mistral": f"[TOOL_CALLS] {json.dumps(GOLD)}",
    "Mistral of 2025": f"[TOOL_CALLS]book_table[ARGS]{ARGUMENTS}",
    "DeepSeek": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>book_table\n"
        f"```json\n{ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "DeepSeek 3.1": f"<｜tool▁call▁begin｜>book_table<｜tool▁sep｜>{ARGUMENTS}<｜tool▁call▁end｜>",
    "Kimi": (
        "<|tool_call_begin|>functions.book_table:0<|tool_call_argument_begin|>"
        f"{ARGUMENTS}<|tool_call_end|>"
    ),
    "Qwen-Coder": (
        "<tool_call>\n<function=book_table>\n<parameter=place>\nAna's\n</parameter>\n"
        "<parameter=guests>\n4\n</parameter>\n</function>\n</tool_call>"
    ),
    "GLM 4.5": (
        "<tool_call>book_table\n<arg_key>place</arg_key>\n<arg_value>Ana's</arg_value>\n"
        "<arg_key>guests</arg_key>\n<arg_value>4</arg_value>\n</tool_call>"
    ),
    "XML of Anthropic": (
        '<function_calls><invoke name="book_table"><parameter name="place">Ana\'s</parameter>'
        '<parameter name="guests">4</parameter></invoke></function_calls>'
    ),
    "gpt-oss": (
        "<|channel|>commentary to=functions.book_table <|constrain|>json<|message|>"
        f"{ARGUMENTS}<|call|>"
    ),
    "GLM": f"book_table\n{ARGUMENTS}",
    "xLAM": json.dumps({"tool_calls": GOLD}),
    "bare JSON": json.dumps(GOLD[0]),
    "named": json.dumps([{"book_table": GOLD[0]["arguments"]}]),
    "fenced": f"Sure:\n```json\n{json.dumps(GOLD, indent=2)}\n```\nDone.",
    "Python": '[book_table(place="Ana\'s", guests=4)]',
    "Python without brackets": 'book_table(place="Ana\'s", guests=4)',
    "Python by position": '[book_table("Ana\'s", 4)]',
    "Python in quotes": '["book_table(place=\\"Ana\'s\\", guests=4)"]',
    "printed": '```tool_code\nprint(book_table(place="Ana\'s", guests=4))\n```',
    "after thinking": f"<think>Or [cancel(id=1)]?</think>[book_table(**{ARGUMENTS})]".replace(
        f"**{ARGUMENTS}", 'place="Ana\'s", guests=4'
    ),
}
del FORMATS["Gemini"]["parts"][0]["functionCall"]["arguments"]
FORMATS["Gemini"]["parts"][0]["functionCall"]["args"] = GOLD[0]["arguments"]


@pytest.mark.parametrize("completion", FORMATS.values(), ids=FORMATS)
def test_every_format_is_read(completion):
    assert score(completion).why == "1 call as expected."
    assert score(completion, gold=[]).value == 0.0


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("place='Ana', guests=4", 'book_table: place is "Ana", expected "Ana\'s".'),
        ("place='anas', guests=4", 'book_table: place is "anas", expected "Ana\'s".'),
        ("guests=4", "book_table: place is missing."),
        ("place='Ana\\'s', guests=4, pets=1", "book_table: pets is an extra argument."),
        (
            "place='Ana\\'s', guests='4'",
            'book_table: guests is "4", which is not of the type integer.',
        ),
        (
            "place='Ana\\'s', guests=True",
            "book_table: guests is true, which is not of the type integer.",
        ),
        (
            "place='Ana\\'s', guests=4, area='Terrace'",
            "book_table: area is an extra argument.",
        ),
        (
            "place='Ana\\'s', guests=count()",
            "book_table: guests is count(), which is not a literal.",
        ),
    ],
)
def test_the_reason_names_the_call_and_the_argument(call, why):
    assert score(f"[book_table({call})]").why == why


@pytest.mark.parametrize(
    "call",
    [
        "place='ANA\\'S ', guests=4",
        "place='Ana\\'s', guests=4.0",
        "place='Ana\\'s', guests=4, area='inside'",
        "place='Ana\\'s', guests=4, area=None",
        "{'place': 'Ana\\'s', 'guests': 4}",
    ],
)
def test_what_means_the_same_is_right(call):
    assert score(f"[book_table({call})]").value == 1.0


def test_other_reasons():
    text = '[book_table(place="Ana\'s", guests=4), cancel(id=1)]'
    assert score(text).why == "2 calls, expected 1: cancel is extra."
    assert score("It is booked.").status == "no_answer"
    assert score("[reserve(place='x')]").why == "reserve is not among the tools."
    assert score(FORMATS["Hermes"], gold=[]).why == "book_table is called, expected no call."
    assert score("No table is free.", gold=[]).value == 1.0
    assert score('<think>[book_table(place="Ana\'s", guests=4)]</think>Done.').value == 0.0
    assert score('You could call book_table(place="Ana\'s", guests=4) here.').value == 0.0


def test_calls_are_matched_as_a_multiset_by_the_best_assignment():
    gold = [{"cancel": {"id": [1, 2]}}, {"cancel": {"id": [2]}}]
    assert score("[cancel(id=2), cancel(id=1)]", gold).value == 1.0
    assert score("[cancel(id=2), cancel(id=2)]", gold).value == 1.0
    assert score("[cancel(id=1), cancel(id=1)]", gold).value == 0.0
    assert score("[cancel(id=2)]", gold).why == "1 call, expected 2: cancel is missing."
    ordered = [{"name": "cancel", "arguments": {"id": one}} for one in (1, 2)]
    assert score("[cancel(id=2), cancel(id=1)]", ordered).value == 1.0
    assert score("[cancel(id=2), cancel(id=1)]", ordered, ordered=True).value == 0.0


def test_partial_credit_is_the_f1_over_calls_and_arguments():
    half = '[book_table(place="Ana\'s", guests=5)]'
    assert score(half, partial=True).value == pytest.approx((1 + 1 + 0.5) / 3)
    assert score(half, partial={"values": 1}).value == pytest.approx(0.5)
    twice = FORMATS["Python"].replace("]", ", cancel(id=1)]")
    assert score(twice, partial=True).value == pytest.approx(2 / 3)
    assert score("[cancel(id=1)]", partial=True).value == 0.0
    with pytest.raises(ValueError, match="partial must be true, false, or weights"):
        score(half, partial={"calls": 1})


def test_golds_in_every_shape():
    call = GOLD[0]
    openai = {"id": "1", "type": "function", "function": {**call, "arguments": ARGUMENTS}}
    for gold in (GOLD, [openai], json.dumps(GOLD), {"tool_calls": [openai]}, call):
        assert score(FORMATS["Python"], gold).value == 1.0
    several = [{"book_table": {"place": ["Ana's", "Bo's"], "guests": [4], "area": [""]}}]
    assert score(FORMATS["Python"], several).value == 1.0
    nested = [{"book_table": {"place": ["A"], "guests": [1], "contact": [{"name": ["Bo", "B"]}]}}]
    assert score("[book_table('A', 1, contact={'name': 'B'})]", nested).value == 1.0
    assert score("[book_table('A', 1, contact={'name': 'C'})]", nested).value == 0.0


def test_a_fault_of_the_gold_skips_the_row():
    for gold in (None, "", "[{", [{"unknown": {"a": [1]}}], [{"cancel": {"id": 1}}]):
        found = score(FORMATS["Python"], gold)
        assert (found.value, found.status) == (None, "bad_gold")
    with pytest.raises(TypeError, match=r"solution 0 must be a list of calls, got int: 5"):
        score("", 5)
    with pytest.raises(TypeError, match=r"tools 0 must be schemas of functions with a name"):
        score("", GOLD, [{"type": "function"}])


def test_text_is_coerced_only_if_asked():
    text = '[book_table(place="Ana\'s", guests="4")]'
    assert score(text).value == 0.0
    assert score(text, coerce=True).value == 1.0


def test_the_leaderboards_verdicts():
    tools = [{"name": "mean", "parameters": {"properties": {"of": {"type": "array"}}}}]
    tools[0]["parameters"]["properties"]["of"]["items"] = {"type": "float"}
    gold = [{"mean": {"of": [[1.0, 2.0]]}}]
    assert tool_call_reward(["[mean(of=[1, 2])]"], [gold], [tools]) == [1.0]
    assert bfcl_reward(["[mean(of=[1, 2])]"], [gold], [tools]) == [0.0]
    assert bfcl_reward(["[mean([1.0, 2.0])]"], [gold], [tools]) == [0.0]


def test_calls_valid_by_their_schemas():
    texts = [FORMATS["Python"], "[cancel(id='1')]", "[cancel(ids=1)]", "[book_table('A')]", "No."]
    found = tool_schema_reward.scores(texts, [TOOLS] * 5)
    assert [one.value for one in found] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert found[2].why == "cancel: ids is an extra argument."
    assert tool_schema_reward(["No."], [TOOLS], needs_call=False) == [1.0]


HOSTILE = {
    "words": "word " * 200_000,
    "brackets": "[" * 300_000,
    "braces": "{" * 300_000,
    "open calls": "[f(" * 100_000,
    "open marks": "<tool_call>{" * 80_000,
    "objects": '{"a": 1}\n' * 30_000,
    "literals": "{'a': 1}\n" * 30_000,
    "parameters": "<function=f>" + "<parameter=a>" * 70_000,
    "malformed marks": "<function=>{<invoke name=>" * 1_000,
    "signs": "[f(a=" + "-" * 25_000 + "1)]",
    "a sum": "[f(a=1" + "+1" * 10_000 + ")]",
    "nested": "[f(a=" + "(" * 5_000 + ")" * 5_000 + ")]",
    "digits": '<tool_call>{"name": "f", "arguments": {"a": ' + "9" * 20_000 + "}}</tool_call>",
    "calls": "[f(a=1)]\n" * 100_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_meet_a_limit(text):
    started = perf_counter()
    assert tool_call_reward([text], [[{"name": "f", "arguments": {"a": 1}}]]) == [0.0]
    assert perf_counter() - started < 5


def test_real_calls_of_many_models(shared):
    file = shared / "families/tools/visible.jsonl"
    if not file.exists():
        pytest.skip("the rows of the family are not there")
    rows = [json.loads(line) for line in file.open(encoding="utf-8")]
    columns = [[row[name] for row in rows] for name in ("completion", "solution", "tools")]
    ours, theirs = tool_call_reward(*columns), bfcl_reward(*columns)
    paired = list(zip(rows, ours, theirs, strict=True))
    main = [(row, mine, bfcl) for row, mine, bfcl in paired if row["label_from"] == "reference"]
    assert sum((mine == 1) == row["right"] for row, mine, _ in main) >= 0.99 * len(main)
    assert sum((bfcl == 1) == row["right"] for row, _, bfcl in main) >= 0.99 * len(main)
    own = [(row, mine) for row, mine, _ in paired if row["label_from"] == "own"]
    assert all((mine == 1) == row["right"] for row, mine in own)
    judged = [(row, mine) for row, mine, _ in paired if row.get("judged") is not None]
    judged = [(row, mine) for row, mine in judged if row["fault"] != "gold"]  # nobody can tell
    assert sum((mine == 1) == row["judged"] for row, mine in judged) >= 0.95 * len(judged)
