"""JSON and Python that a model wrote: parsed in any thread, and after a fork."""

import ast
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from plaudit.inputs import parsing


def test_threads_parse_at_the_same_time():
    texts = ["[" + ", ".join(f"f(a={n}, b=[{k}])" for k in range(60)) + "]" for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(parsing.parse_expression, texts))
    assert [len(tree.elts) for tree in trees] == [60] * 200


def test_a_fork_does_not_wait_for_a_lock_of_its_parent():
    with parsing._parsing:
        child = os.fork()
        if not child:
            os._exit(parsing.read_literal("7"))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_text_that_never_parses_is_a_clear_error(monkeypatch):
    def broken(*_, **__):
        raise SystemError("AST constructor recursion depth mismatch")

    monkeypatch.setattr(parsing.ast, "parse", broken)
    with pytest.raises(ValueError, match="depth mismatch"):
        parsing.syntax_tree("1")


def test_json_is_read_by_its_standard():
    assert parsing.read_json(' {"a": [1, 2.5, null]} ') == {"a": [1, 2.5, None]}
    with pytest.raises(parsing.JsonError, match="NaN is not JSON"):
        parsing.read_json('{"a": NaN}')


def test_python_is_read_and_not_evaluated():
    assert len(parsing.syntax_tree("a = 1; b = 2").body) == 2
    assert ast.unparse(parsing.parse_expression(r"f(a='\d')")) == r"f(a='\\d')"
    assert parsing.read_literal("{'answer': (1, None)}") == {"answer": (1, None)}
