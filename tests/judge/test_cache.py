"""A cache that is bounded, by its entries and by its bytes, and that threads may share."""

import random
from concurrent.futures import ThreadPoolExecutor
from sys import getsizeof

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.judge._judge import ENTRY, Cache

ROOMY = 10**9


def test_what_was_put_is_got():
    cache = Cache(entries=10, size=ROOMY)
    assert cache.get("a") is None
    cache.put("a", 1)
    assert cache.get("a") == 1
    assert (cache.hits, cache.misses, len(cache)) == (1, 1, 1)


def test_what_is_asked_for_stays_and_the_rest_goes():
    cache = Cache(entries=10, size=ROOMY)
    cache.put("asked for", 1)
    for number in range(100):
        cache.put(number, number)
        assert cache.get("asked for") == 1
    assert cache.get(0) is None
    assert cache.get(99) == 99


def test_it_holds_no_more_entries_than_it_may():
    cache = Cache(entries=10, size=ROOMY)
    for number in range(1_000):
        cache.put(number, number)
        assert len(cache) <= 10


def test_it_holds_no_more_text_than_it_may():
    text = "x" * 1_000
    cache = Cache(entries=1_000, size=100 * (ENTRY + getsizeof(text)))
    for number in range(1_000):
        cache.put(number, number, getsizeof(text))
        assert len(cache) <= 100


def test_long_texts_take_the_place_of_many_short_ones():
    cache = Cache(entries=1_000, size=100_000)
    for number in range(10):
        cache.put(number, number)
    cache.put("long", 0, getsizeof("x" * 45_000))
    cache.put("longer", 0, getsizeof("x" * 45_000))
    assert cache.get(5) is None


@settings(
    deadline=None,
    max_examples=examples(300),
    derandomize=True,
    database=None,
    phases=[Phase.generate],
)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 12)), min_size=40, max_size=200))
def test_it_is_bounded_whatever_is_asked(steps):
    cache = Cache(entries=8, size=ROOMY)
    for put, key in steps:
        if put:
            cache.put(key, key)
        else:
            cache.get(key)
        assert len(cache) <= 8


def test_asking_for_everything_between_puts_does_not_let_it_grow():
    cache = Cache(entries=10, size=ROOMY)
    for number in range(100):
        cache.put(number, number)
        for known in range(number):
            cache.get(known)
    assert len(cache) <= 10


def test_what_is_larger_than_the_cache_is_not_kept():
    cache = Cache(entries=10, size=10_000)
    cache.put("huge", 1, getsizeof("x" * 1_000_000))
    assert len(cache) == 0


def test_threads_share_it():
    cache = Cache(entries=50, size=ROOMY)

    def hammer(seed):
        draw = random.Random(seed)
        for _ in range(20_000):
            key = draw.randrange(200)
            value = cache.get(key)
            if value is None:
                cache.put(key, key * key)
            elif value != key * key:
                return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(hammer, range(4))) == [True] * 4
    assert len(cache) <= 100
    assert cache.hits > 0
    assert cache.misses > 0
