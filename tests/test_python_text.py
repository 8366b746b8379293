"""Python that a model wrote is parsed in any thread, and after a fork."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from plaudit.inputs import parsing as python_text


def test_threads_parse_at_the_same_time():
    texts = ["[" + ", ".join(f"f(a={n}, b=[{k}])" for k in range(60)) + "]" for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(python_text.parse_expression, texts))
    assert [len(tree.elts) for tree in trees] == [60] * 200


def test_a_fork_does_not_wait_for_a_lock_of_its_parent():
    with python_text._parsing:
        child = os.fork()
        if not child:
            os._exit(python_text.read_literal("7"))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_text_that_never_parses_is_a_clear_error(monkeypatch):
    def broken(*_, **__):
        raise SystemError("AST constructor recursion depth mismatch")

    monkeypatch.setattr(python_text.ast, "parse", broken)
    with pytest.raises(ValueError, match="depth mismatch"):
        python_text.syntax_tree("1")
