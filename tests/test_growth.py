"""The measure of growth that other tests rest on."""

from growth import exponent


def test_the_exponent_tells_one_pass_from_many():
    def once(text):
        return sum(map(ord, text))

    def again_and_again(text):
        return sum(text.count("b", at) for at in range(0, len(text), 8))

    def letters(length):
        return "a" * length

    assert exponent(once, letters, short=200_000) < 1.5
    assert exponent(again_and_again, letters, short=30_000) > 1.6
