"""What goes over the wire comes out the same, whatever stands in it and however it is cut."""

import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.judge._latex import Latex, Piece
from plaudit.judge._plain import Arithmetic, Number
from plaudit.judge._reading import read
from plaudit.judge._verdict import Rule
from plaudit.judge._wire import Frames, pack, receive
from plaudit.judge._worker import Normal, as_wire, from_wire, judge_item

text = st.text(st.characters(codec=None), max_size=30)
plain = st.recursive(
    st.one_of(text, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.tuples(inner, inner)),
    max_leaves=8,
)
exactly = settings(deadline=None, max_examples=examples(150), derandomize=True, database=None)
HOSTILE = "\ud800 \udfff \0 \U0001f600 é\n\\boxed{"


@exactly
@given(st.lists(plain, max_size=5), st.integers(1, 50))
def test_frames_come_out_as_they_went_in(values, size):
    stream, frames = b"".join(map(pack, values)), Frames()
    parts = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert [value for part in parts for value in frames.feed(part)] == values


@pytest.mark.parametrize("value", [HOSTILE, HOSTILE * 100_000, [("latex", (HOSTILE, True))], ""])
def test_lone_surrogates_and_nul_bytes_pass_a_socket(value):
    here, there = socket.socketpair()
    with here, there:
        sender = threading.Thread(target=here.sendall, args=(pack(value),))
        sender.start()
        assert receive(there) == value
        sender.join()


@pytest.mark.parametrize("sent", [b"", b"\0\0", pack("cut")[:-1]])
def test_a_side_that_is_gone_is_noticed(sent):
    here, there = socket.socketpair()
    with there:
        here.sendall(sent)
        here.close()
        with pytest.raises(EOFError):
            receive(there)


pieces = st.builds(Piece, text, st.booleans(), st.booleans())
several = st.lists(pieces, min_size=2, max_size=6).map(tuple).map(Latex)
candidates = st.one_of(several, st.builds(Number, text, st.booleans()), st.builds(Arithmetic, text))


@exactly
@given(candidates, st.sampled_from(Rule))
def test_candidates_come_out_as_they_went_in(candidate, rule):
    (frame,) = Frames().feed(pack(as_wire(candidate, rule)))
    assert from_wire(frame) == candidate


def test_one_environment_is_normalised_before_it_is_sent():
    one = Latex((Piece(r"\boxed{\dfrac{1}{2}}", percent=True, bare=True),))
    assert from_wire(as_wire(one, Rule.LATEX)) == Normal(r"\frac{1}{2}", percent=True)


def test_a_long_environment_is_sent_as_it_stands():
    one = Latex((Piece("x+" * 1_000 + "1"),))
    assert from_wire(as_wire(one, Rule.LATEX)) == one


def test_what_is_no_candidate_is_not_taken_for_one():
    with pytest.raises(ValueError, match="no candidate: "):
        from_wire(("poem", "roses are red"))


def judged(answer, gold, rule=Rule.LATEX):
    outcome = judge_item(read(answer, rule).wire, read(gold, Rule.ANYWHERE).wire, rule.value)
    (frame,) = Frames().feed(pack(outcome))
    return frame[:3]


@pytest.mark.parametrize(
    ("answer", "gold", "outcome"),
    [
        (r"\boxed{\sin^2 x + \cos^2 x}", "1", ("equal", r"\sin^2 x + \cos^2 x", "1")),
        (r"\boxed{\sin x}", r"$\cos x$", ("different", r"\sin x", r"\cos x")),
        (
            "The answer is $1$, $2$ and $3$",
            r"$\{1, 2, 3\}$",
            ("equal", "1 and 2 and 3", r"\{1, 2, 3\}"),
        ),
        (r"\boxed{ }", "5", ("no_answer", "", "5")),
        (r"\boxed{5}", "$ $", ("bad_gold", "", "")),
        ("\\boxed{\ud800}", "$\0$", ("different", "\ud800", "\0")),
        (r"\boxed{\frac{0}{0}x}", "5", ("different", r"\frac{0}{0}x", "5")),
    ],
)
def test_an_item_is_judged(answer, gold, outcome):
    assert judged(answer, gold) == outcome


def test_what_goes_wrong_is_told():
    status, answer, gold, problem, seconds = judge_item(
        (("poem", "x"),), (("number", "1", False),), "latex"
    )
    assert (status, answer, gold) == ("error", "", "")
    assert problem.startswith("ValueError: no candidate")
    assert seconds >= 0
