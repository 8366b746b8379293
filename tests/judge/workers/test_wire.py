"""Frames come out of the wire as they went in, whatever is in them and however they are cut."""

import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.judge.workers._fork_server import Frames, pack, receive

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
