"""Rewards for calls of tools: are the calls that the assistant makes the expected ones?

    tool_call_reward(
        completions=['<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'],
        solution=[[{"name": "f", "arguments": {"a": 1}}]],
    )

What right means is in docs/tools.md, rule by rule.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.inputs.columns import rows_of, same_length
from plaudit.inputs.completions import Completion
from plaudit.judge import Status
from plaudit.rewards.tools._call_match import (
    CallMatch,
    ComparisonRules,
    Expected,
    GoldError,
    Tool,
    arguments_of,
    compare,
    expected_of,
    shown,
    tools_of,
    type_fault,
)
from plaudit.rewards.tools._calls import Call, calls_of
from plaudit.scores import Score, reward
from plaudit.scores.algorithms import best_assignment
from plaudit.scores.score import logged

__all__ = ["bfcl_reward", "tool_call_reward", "tool_schema_reward"]


NO_GOLD = Score(None, "There is no gold: the row is skipped.", status=Status.BAD_GOLD)
_WEIGHTS = {"name": 1.0, "keys": 1.0, "values": 1.0}
_MOST_COMPARED = 50  # calls beyond them count as extra ones


@reward(columns=("solution", "tools"))
def tool_call_reward(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    tools: Sequence[Any] | None = None,
    partial: bool | Mapping[str, float] = False,
    ordered: bool = False,
    coerce: bool = False,
    **kwargs: Any,
) -> list[Score]:
    """1.0 if the calls that the assistant makes are the expected ones, 0.0 if not.

    completions: a text or a list of messages for each row; calls are read in every common format,
        and never in the thinking
    solution: the expected calls of each row: a list of `{"name": "f", "arguments": {"a": 1}}`, of
        OpenAI's calls, or of BFCL's `{"f": {"a": [1, 2, ""]}}` with the accepted values of each
        argument, "" if it may be left out. An empty list: no call is right. None: no gold
    tools: the schemas of the functions of each row, as OpenAI, Anthropic or BFCL write them: for
        types, enums, defaults, and the order of arguments. Default: not known
    partial: whether calls that are right in part are worth something: the F1 over the calls, each
        worth the mean of its name, its keys and its values; or their weights, such as
        `{ name = 1, keys = 1, values = 2 }`. Default: False
    ordered: whether the calls must come in the order of the gold. Default: False
    coerce: whether text that says a value of the right type is that value: "5" for 5. It needs
        `tools`. Default: False

    >>> gold = [{"name": "get_weather", "arguments": {"city": "Lisbon", "days": 3}}]
    >>> texts = ["[get_weather(city='Lisbon', days=3)]", "[get_weather(city='Oslo', days=3)]"]
    >>> tool_call_reward(texts, [gold, gold])
    [1.0, 0.0]
    >>> tool_call_reward.scores(texts, [gold, gold])[1].why
    'get_weather: city is "Oslo", expected "Lisbon".'
    """
    rules = ComparisonRules(coerce=coerce)
    scores = _scores(completions, solution, tools, rules, _weights(partial), ordered)
    return logged(scores, kwargs)


@reward(columns=("solution", "tools"))
def bfcl_reward(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    tools: Sequence[Any] | None = None,
    **kwargs: Any,
) -> list[Score]:
    """1.0 if the Berkeley leaderboard's checker of syntax trees calls the calls right, else 0.0.

    It compares as the checker of 2024-08 does, in what that gets wrong as well: arguments by
    position are dropped, and a whole number in a list of floats is an error. Calls are read in
    every format, while the leaderboard has a decoder for each model.

    completions: a text or a list of messages for each row
    solution: the expected calls of each row, as for `tool_call_reward`
    tools: the schemas of the functions of each row. Default: not known

    >>> bfcl_reward(["[f(a='X-1')]"], [[{"f": {"a": ["x1"]}}]])
    [1.0]
    """
    rules = ComparisonRules(is_bfcl=True)
    return logged(_scores(completions, solution, tools, rules, None, False), kwargs)


@reward(columns=("tools",))
def tool_schema_reward(
    completions: Sequence[Completion],
    tools: Sequence[Any],
    needs_call: bool = True,
    coerce: bool = False,
    **kwargs: Any,
) -> list[Score]:
    """1.0 if every call of the assistant is valid by the schema of its function, 0.0 if not.

    It needs no gold: functions, names of arguments, types, enums and required arguments.

    completions: a text or a list of messages for each row
    tools: the schemas of the functions of each row
    needs_call: whether a completion without a call is worth 0.0. Default: True
    coerce: whether text that says a value of the right type is that value. Default: False

    >>> schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    >>> tools = [[{"name": "f", "parameters": schema}]] * 3
    >>> tool_schema_reward(["[f(a=1)]", "[f(a='x')]", "[g(a=1)]"], tools)
    [1.0, 0.0, 0.0]
    """
    same_length(completions, tools=tools)
    rules = ComparisonRules(coerce=coerce)
    scores = []
    rows = zip(rows_of(completions, "completions"), rows_of(tools, "tools"), strict=True)
    for row, (completion, schemas) in enumerate(rows):
        try:
            known = tools_of(schemas, f"tools {row}")
        except GoldError as error:
            scores.append(_bad_gold(error))
            continue
        calls = calls_of(completion, row, known)
        faults = [fault for call in calls if (fault := _schema_fault(call, known, rules))]
        answer = _shown_calls(calls)
        if not calls and needs_call:
            scores.append(Score(0.0, "There is no call.", status=Status.NO_ANSWER))
        elif faults:
            scores.append(Score(0.0, f"{faults[0]}.", answer))
        else:
            scores.append(Score(1.0, f"{len(calls)} calls are valid by their schemas.", answer))
    return logged(scores, kwargs)


def _schema_fault(call: Call, tools: Mapping[str, Tool], rules: ComparisonRules) -> str:
    """Return what is wrong with a call by the schema of its function; "" if nothing is."""
    tool = tools.get(call.name)
    if call.problem or tool is None:
        return f"{call.name or 'a call'}: {call.problem or 'the function is not among the tools'}"
    arguments = arguments_of(call, tool, rules)
    for name, value in arguments.items():
        if name not in tool.arguments:
            return f"{call.name}: {name} is an extra argument"
        if fault := type_fault(value, tool.arguments[name], rules):
            return f"{call.name}: {name} {fault}"
    missing = [name for name in tool.required if name not in arguments]
    return f"{call.name}: {missing[0]} is missing" if missing else ""


def _scores(
    completions: Sequence[Completion],
    solution: Sequence[Any],
    tools: Sequence[Any] | None,
    rules: ComparisonRules,
    weights: Mapping[str, float] | None,
    ordered: bool,
) -> list[Score]:
    same_length(completions, solution=solution)
    entries = rows_of(completions, "completions")
    golds = rows_of(solution, "solution")
    schemas: Sequence[Any] = [None] * len(entries) if tools is None else rows_of(tools, "tools")
    same_length(completions, tools=schemas)
    scores = []
    shared: dict[int, dict[str, Tool]] = {id(None): {}}  # rows often share their tools
    for row, (completion, gold, schema) in enumerate(zip(entries, golds, schemas, strict=True)):
        try:
            if id(schema) not in shared:
                shared[id(schema)] = tools_of(schema, f"tools {row}")
            known = shared[id(schema)]
            expected = expected_of(gold, f"solution {row}")
            _check_names(expected or [], known, rules)
        except GoldError as error:
            scores.append(_bad_gold(error))
            continue
        calls = calls_of(completion, row, known, quotes=rules.is_bfcl)
        if expected is None:
            scores.append(NO_GOLD)
        else:
            scores.append(_score(calls, expected, known, rules, weights, ordered))
    return scores


def _check_names(
    expected: list[Expected], tools: Mapping[str, Tool], rules: ComparisonRules
) -> None:
    unknown = [gold.name for gold in expected if gold.name not in tools]
    if tools and unknown and not rules.is_bfcl:
        raise GoldError(f"it calls {unknown[0]}, which is not among the tools")


def gold_fault(solution: Any, tools: Any) -> str:
    """Return how the expected calls of a row violate its tools' schemas; "" if they do not."""
    try:
        known = tools_of(tools, "tools")
        expected = expected_of(solution, "solution") or []
        _check_names(expected, known, ComparisonRules())
    except (GoldError, TypeError) as error:
        return str(error)
    faults = (_expected_fault(gold, known[gold.name]) for gold in expected if known)
    return next((fault for fault in faults if fault), "")


def _expected_fault(gold: Expected, tool: Tool) -> str:
    for name, values in gold.accepted.items():
        if name not in tool.arguments:
            return f"{gold.name} has no argument {name}"
        meant = [value for value in values if value != "" or name not in gold.optional]
        faults = [type_fault(value, tool.arguments[name], ComparisonRules()) for value in meant]
        if faults and all(faults) and not tool.is_text:
            return f"{gold.name}: {name} {faults[0]}"
    missing = [name for name in tool.required if name not in gold.accepted]
    return f"{gold.name}: {missing[0]} is missing" if missing else ""


def _bad_gold(error: GoldError) -> Score:
    return Score(
        None, f"The gold cannot be used: {error}.", status=Status.BAD_GOLD, problem=str(error)
    )


def _score(
    calls: list[Call],
    expected: list[Expected],
    tools: Mapping[str, Tool],
    rules: ComparisonRules,
    weights: Mapping[str, float] | None,
    ordered: bool,
) -> Score:
    """Return the score of the calls of one row."""
    answer = _shown_calls(calls)
    gold = _shown_gold(expected)
    if not calls or not expected:
        return _without_calls(calls, expected, answer, gold)
    compared = calls[:_MOST_COMPARED]
    matches = [
        [compare(call, one, tools.get(one.name), rules) for one in expected] for call in compared
    ]
    chosen = _assigned(matches, weights or _WEIGHTS, ordered)
    pairs = [(row, at) for row, at in enumerate(chosen) if at is not None]
    fault = _fault(calls, expected, matches, chosen, tools)
    if not fault:
        why = f"{_count(len(calls))} as expected."
        return Score(1.0, why, answer, gold, "calls", Status.EQUAL, True)
    value = 0.0
    if weights is not None:
        worth = sum(_worth(matches[row][at], weights) for row, at in pairs)
        value = 2 * worth / (len(calls) + len(expected))
    return Score(value, f"{fault}.", answer, gold, "calls", Status.DIFFERENT, False)


def _without_calls(
    calls: list[Call], expected: list[Expected], answer: str | None, gold: str
) -> Score:
    if not calls and not expected:
        return Score(1.0, "No call is made, as expected.", "", gold, "calls", Status.EQUAL, True)
    if calls:
        why = f"{calls[0].name or 'a function'} is called, expected no call."
        return Score(0.0, why, answer, gold, "calls", Status.DIFFERENT, False)
    why = f"No call is made, expected {gold}."
    return Score(0.0, why, None, gold, "calls", Status.NO_ANSWER, False)


def _assigned(
    matches: list[list[CallMatch]], weights: Mapping[str, float], ordered: bool
) -> list[int | None]:
    """Return the expected call of each call."""
    if ordered:
        return [row if row < len(matches[0]) else None for row in range(len(matches))]
    if len(matches) == 1 and len(matches[0]) == 1:
        return [0]
    worth = [[_worth(match, weights) for match in row] for row in matches]
    column_of = dict(best_assignment(worth))
    return [column_of.get(row) for row in range(len(matches))]


def _worth(match: CallMatch, weights: Mapping[str, float]) -> float:
    """Return how much of a call is right, from 0 to 1; 1 only if all of it is."""
    if not match.has_name or match.is_broken:
        return 0.0
    if not match.fault:
        return 1.0
    total = match.made + match.wanted
    keys = 2 * match.keys / total if total else 1.0
    values = 2 * match.values / total if total else 1.0
    parts = {"name": 1.0, "keys": keys, "values": values}
    worth = sum(weights[part] * share for part, share in parts.items()) / sum(weights.values())
    return min(worth, 0.99)  # an argument that may not be left out has no key to count


def _fault(
    calls: list[Call],
    expected: list[Expected],
    matches: list[list[CallMatch]],
    chosen: list[int | None],
    tools: Mapping[str, Tool],
) -> str:
    """Return what is wrong first with the calls of a row; "" if nothing is."""
    for row, at in enumerate(chosen):
        call = calls[row]
        if at is None and call.problem:
            return f"{call.name or 'a call'}: {call.problem}"
        if at is not None and (match := matches[row][at]).fault:
            if not match.has_name and tools and call.name and call.name not in tools:
                return f"{call.name} is not among the tools"
            return match.fault if match.has_name or not call.problem else f"a call: {call.problem}"
    if len(calls) != len(expected):
        made = {at for at in chosen if at is not None}
        missing = [one.name for at, one in enumerate(expected) if at not in made]
        extra = [call.name for call, at in zip(calls, chosen, strict=False) if at is None]
        which = f"{missing[0]} is missing" if missing else f"{(extra or ['one'])[0]} is extra"
        return f"{_count(len(calls))}, expected {len(expected)}: {which}"
    return ""


def _count(number: int) -> str:
    return "1 call" if number == 1 else f"{number} calls"


def _shown_calls(calls: list[Call]) -> str | None:
    """Return the calls as Python writes them, shortened."""
    texts = []
    for call in calls[:10]:
        values = [shown(value) for value in call.positional]
        values += [f"{name}={shown(value)}" for name, value in call.arguments.items()]
        texts.append(f"{call.name or '?'}({', '.join(values[:20])})")
    return "; ".join(texts) if texts else None


def _shown_gold(expected: list[Expected]) -> str:
    """Return the expected calls in the same way, with the first accepted values."""
    calls = []
    for gold in expected[:10]:
        values = {name: several[0] for name, several in gold.accepted.items() if several}
        kept = {name: one for name, one in values.items() if one != "" or name not in gold.optional}
        calls.append(Call(gold.name, kept))
    return _shown_calls(calls) or "no call"


def _weights(partial: bool | Mapping[str, float]) -> Mapping[str, float] | None:
    if partial is True or partial is False:
        return _WEIGHTS if partial else None
    is_table = isinstance(partial, Mapping) and set(partial) <= set(_WEIGHTS)
    if not is_table or not all(
        isinstance(weight, int | float) and weight >= 0 for weight in partial.values()
    ):
        raise ValueError(
            f"partial must be true, false, or weights of name, keys and values, got {partial!r:.80}"
        )
    weights = dict.fromkeys(_WEIGHTS, 0.0) | dict(partial)
    if not any(weights.values()):
        raise ValueError("partial: at least one of name, keys and values must weigh something")
    return weights
