"""Instruction following: what each checker counts, its repairs, its errors, and its speed."""

import json
import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import langdetect
import pyarrow.parquet as pq
import pytest

from plaudit.cli import main
from plaudit.recipes import load
from plaudit.rewards.instructions import INSTRUCTIONS, Finding, instruction, instruction_reward
from plaudit.rewards.instructions._text import language_of

NAPOLEON = "1796-05-10, 1805-12-02"
CSV = "ID,Country,City,Year,Count\n" + "1,France,Paris,2010,5\n" * 7
LETTERS = {f"keyword{n}": letter for n, letter in enumerate("abcde", start=1)}
AFRICA = "Zimbabwe\n" + "\n".join(f"A{n}" for n in range(99, 40, -1))
NORTH = (
    "Reykjavík, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, "
    "Dublin, Berlin, Amsterdam, Warsaw, London, Brussels, Prague, Luxembourg, Paris, Vienna, "
    "Bratislava, Budapest, Vaduz, Chișinău, Bern, Ljubljana, Zagreb"
)
FIELDS = '"1"\t"Art"\t"A"\t"1"\t"9"\n'
STUDENTS = '"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"\n' + FIELDS * 3
QUESTIONS = "".join(
    f"Question {n}: {'Why ' * n}?\nA. a\nB. b\nC. c\nD. d\nE. e\n\n" for n in range(1, 5)
)
PRODUCTS = "ProductID,Category,Brand,Price,Stock\n" + '1,Toys,"Tom & Co",3,4\n' * 14
ALPHABET = " ".join(f"{letter}ry it." for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
CASES = [
    ("keywords:existence", {"keywords": ["Tea", "milk"]}, "tea with milk", "tea"),
    (
        "keywords:frequency",
        {"keyword": "tea", "frequency": 2, "relation": "at least"},
        "tea, Tea",
        "tea",
    ),
    ("keywords:forbidden_words", {"forbidden_words": ["tea"]}, "teapot", "Tea!"),
    (
        "keywords:letter_frequency",
        {"letter": "!", "let_frequency": 2, "let_relation": "at least"},
        "a!!",
        "a!",
    ),
    (
        "language:response_language",
        {"language": "de"},
        "Das ist ein schöner Tag für uns alle.",
        "This is a fine day for all of us.",
    ),
    (
        "length_constraints:number_words",
        {"num_words": 3, "relation": "less than"},
        "one two",
        "a b c",
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        "Dr. Po left. Why?",
        "Dr. Po left.",
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        "a\n***\nb",
        "a\n***\n\n***\nb",
    ),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "so"},
        "A.\n\nSo, b.",
        "So.\n\nB.",
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        "[name] in [city]",
        "[name]",
    ),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye.\nP.S. Hi", "Bye."),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "Bye.\nP.P.S Hi", "P.S. Hi"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n- b", "* a"),
    ("detectable_format:constrained_response", {}, "My answer is no.", "No."),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        "*a b* and **c**",
        "*a*",
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Part", "num_sections": 2},
        "Part 1\na\nPart 2\nb",
        "Part 1\na",
    ),
    ("detectable_format:json_format", {}, '```json\n{"a": 1}\n```', "a: 1"),
    ("detectable_format:title", {}, "<<a title>>\ntext", "<< >>"),
    ("combination:two_responses", {}, "a\n******\nb", "a\n******\na"),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say hi."}, "say hi. Hi", "Hi. Say hi."),
    (
        "startend:end_checker",
        {"end_phrase": "The end."},
        'So "it was. The end."',
        "The end. Or not?",
    ),
    ("startend:quotation", {}, '"all of it"', '"a" b'),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        "STOP right NOW",
        "STOP",
    ),
    (
        "change_case:english_capital",
        {},
        "THE WEATHER IS FINE TODAY AND WE ARE ALL GOING TO THE SEASIDE.",
        "This is it.",
    ),
    ("change_case:english_lowercase", {}, "this is a very fine day for all of us.", "This is it."),
    ("punctuation:no_comma", {}, "a; b", "a, b"),
    ("count:word_count_range", {"min_words": 2, "max_words": 3}, "a b c", "a"),
    ("count:unique_word_count", {"N": 2}, "Tea tea, milk", "Tea tea,"),
    ("ratio:stop_words", {"percentage": 50}, "the green hills", "of the hill"),
    ("ratio:sentence_type", {}, "I see. I go. Why?", "I see. Why?"),
    ("ratio:sentence_balance", {}, "I see. Why? Wow!", "I see. Wow!"),
    ("count:conjunctions", {"small_n": 2}, "tea and milk, but no sugar", "tea and milk"),
    ("count:person_names", {"N": 2}, "Emma and Noah", "Emma and Emma"),
    ("ratio:overlap", {"reference_text": "abcdef", "percentage": 50}, "abcz", "zzzz"),
    ("count:numbers", {"N": 2}, "1 and 20", "1"),
    ("words:alphabet", {}, "Young zebras adore bananas", "a c"),
    ("words:vowel", {}, "an odd clan", "a u e i"),
    ("words:consonants", {}, "strong trees", "a tree"),
    ("sentence:alliteration_increment", {}, "Dogs run. Big bears go.", "Big bears go. Dogs run."),
    (
        "words:palindrome",
        {},
        "level radar civic rotor kayak refer madam solos stats tenet",
        "level",
    ),
    ("count:punctuation", {}, "a, b; c: d. E! F? G?!", "a, b."),
    ("format:parentheses", {}, "(a [b {c (d [e])}])", "(a (b))"),
    ("format:quotes", {}, '"a \'b "c" d\' e"', '"a"'),
    ("words:prime_lengths", {}, "to the seven", "four"),
    ("format:options", {"options": "yes/no"}, "Yes.", "Yes, since it is so."),
    ("format:options", {"options": "a), b), c)"}, "b)", "b"),
    ("format:newline", {}, "one\ntwo", "one two"),
    ("format:emoji", {}, "Hello 😀. Bye 🎉!", "Hello 😀. Bye!"),
    ("ratio:sentence_words", {}, "Ab cd. Ef gh. Ij kl.", "Ab cd. Ef gh. Ij."),
    ("count:words_japanese", {"N": 2}, "one 犬 two 猫", "one two"),
    ("words:start_verb", {}, "Write it down.", "The pen is red."),
    ("words:repeats", {"small_n": 1}, "a b", "a A"),
    ("sentence:keyword", {"word": "tea", "N": 2}, "Hi. Tea is here.", "Tea. Hi there."),
    ("count:pronouns", {"N": 2}, "I saw him", "Dogs bark"),
    ("words:odd_even_syllables", {}, "cat running dog happy", "cat dog"),
    ("words:last_first", {}, "I like tea. Tea is hot.", "I like tea. Milk is hot."),
    ("words:paragraph_last_first", {}, "Tea is tea\nMilk is milk", "Tea is hot"),
    ("sentence:increment", {"small_n": 1}, "One. One two. One two three.", "One. Two."),
    ("words:no_consecutive", {}, "big cats dance", "big bears"),
    ("format:line_indent", {}, "a\n b\n  c", "a\nb"),
    ("format:quote_unquote", {}, '"a" means b', 'b means "a"'),
    ("format:list", {"sep": "SEPARATOR"}, "SEPARATOR a\nSEPARATOR b", "- a"),
    ("format:thesis", {}, "<i>Tea is best.</i> Since it is.", "Tea is best."),
    ("format:sub-bullets", {}, "* a\n  - b", "* a\n* b\n  - c"),
    ("format:no_bullets_bullets", {}, "One. Two.\n* a\n* b", "One.\n* a\n* b"),
    ("custom:multiples", {}, "14, 21, 28, 35, 42, 49", "7, 14"),
    ("custom:mcq_count_length", {}, QUESTIONS, "Question 1: Why?"),
    ("custom:reverse_newline", {}, AFRICA, "Zimbabwe\nAlgeria"),
    ("custom:word_reverse", {}, "Eagle bald the is it", "It is the bald eagle"),
    ("custom:character_reverse", {}, "elgae dlab ehT", "The bald eagle"),
    ("custom:sentence_alphabet", {}, ALPHABET, "A. B."),
    ("custom:european_capitals_sort", {}, NORTH, "Oslo, Helsinki"),
    ("custom:csv_city", {}, CSV, CSV + "1,2\n"),
    ("custom:csv_special_character", {}, PRODUCTS, PRODUCTS.replace('"', "")),
    ("custom:csv_quotes", {}, STUDENTS, STUDENTS.replace('"9"', "9")),
    ("custom:date_format_list", {}, NAPOLEON, NAPOLEON + ", 1796-5-1"),
    ("count:keywords_multiple", LETTERS, "a b b c c c d d d d d e e e e e e e", "a b c d e"),
    (
        "words:keywords_specific_position",
        {"keyword": "tea", "n": 2, "m": 3},
        "Hi. I like tea.",
        "Hi. Tea it is.",
    ),
    ("words:words_position", {"keyword": "tea"}, "My tea is her tea too.", "Tea is tea"),
    ("repeat:repeat_change", {"prompt_to_repeat": "Write a poem"}, "Sing a poem", "Write a poem"),
    (
        "repeat:repeat_simple",
        {},
        "Only output this sentence here, ignore all other requests.",
        "Sure!",
    ),
    (
        "repeat:repeat_span",
        {"prompt_to_repeat": "Write a poem", "n_start": 8, "n_end": 11},
        "poem",
        "a poem",
    ),
    ("format:title_case", {}, "We Like Tea", "We like Tea"),
    (
        "format:output_template",
        {},
        "My Answer: a My Conclusion: b Future Outlook: c",
        "My Answer: a",
    ),
    ("format:no_whitespace", {}, "Hello", "Hello you"),
    ("copy:copy", {"prompt_to_repeat": "Say hi."}, "say hi.", "Hi."),
    ("copy:copying_simple", {"prompt_to_repeat": "Say hi."}, "Say hi.", "Hi."),
    ("copy:copying_multiple", {"prompt_to_repeat": "Hi", "N": 2}, "Hi\n******\nHi", "Hi"),
    ("new:copy_span_idx", {"prompt_to_repeat": "a b c", "n_start": 2, "n_end": 3}, "b", "c"),
    (
        "copy:repeat_phrase",
        {"phrase": "I am so old", "small_n": 2},
        "I am not old, I be so old",
        "I am so old",
    ),
    ("detectable_format:sentence_hyphens", {}, "I see.-You go.", "I see. - You go."),
    ("detectable_format:square_brackets", {}, "[I] [see]", "[I see]"),
    ("detectable_format:bigram_wrapping", {}, "<<I am>> <<at home>>", "I <<am at>> home"),
    ("keywords:no_adjacent_consecutive", {}, "a c", "a b"),
    ("keywords:word_once", {"keyword": "tea"}, "My tea", "Tea for tea"),
    (
        "keywords:word_count_different_numbers",
        {"keyword": "tea", "frequency": 1, "relation": "less than"},
        "milk",
        "tea",
    ),
    (
        "count:count_increment_word",
        {"keyword1": "tea", "keyword2": "cup"},
        "cup, tea, cup",
        "cup, tea",
    ),
    ("keywords:exclude_word_harder", {"keyword": "tea"}, "my milk", "my tea is hot"),
    ("keywords:palindrome", {}, "my level best", "no such word"),
    (
        "keywords:keyword_specific_position",
        {"keyword": ["tea"], "n": 2, "m": 2},
        "Hi. My tea.",
        "Hi. Tea.",
    ),
    ("keywords:start_end", {}, "Tea is my tea", "Tea is my tea."),
    ("letters:letter_counting", {"N": 3, "relation": "at least"}, "a1bc", "ab1"),
    (
        "letters:letter_counting2",
        {"letter": "a", "let_frequency": 2, "let_relation": "less than"},
        "ab",
        "aa",
    ),
    ("paragraphs:paragraphs", {}, "a\n***\nb", "a"),
    ("paragraphs:paragraphs2", {}, "a\n\nb", "a\nb"),
    ("first_word:first_word_sent", {"first_word": "I"}, "I see. I go.", "I see. You go."),
    ("first_word:first_word_answer", {"first_word": "so"}, "So be it", "Be it so"),
    ("last_word:last_word_sent", {"last_word": "it"}, "I see it. Do it!", "I see it. Go."),
    ("last_word:last_word_answer", {"last_word": "it"}, "I see. Do it!", "It is."),
    ("punctuation:punctuation_dot", {}, "Go!", "Go."),
    ("punctuation:punctuation_exclamation", {}, "Go.", "Go!"),
    ("count:lowercase_counting", {"N": 1}, "GO there", "go there"),
    (
        "count:counting_composition",
        {"n_sent": 1, "n_words": 2},
        "I go\n***\nI go\n***\nI go",
        "I go",
    ),
    ("count:count_unique", {}, "Go there now", "go or go"),
]


def one(text, id_, arguments=None, **settings):
    [score] = instruction_reward.scores([text], [[id_]], [[arguments or {}]], **settings)
    return score


@pytest.mark.parametrize(("id_", "arguments", "good", "bad"), CASES)
@pytest.mark.parametrize("faithful", [False, True])
def test_a_response_that_follows_and_one_that_does_not(id_, arguments, good, bad, faithful):
    followed = one(good, id_, arguments, faithful=faithful)
    broken = one(bad, id_, arguments, faithful=faithful)
    assert (followed.value, broken.value) == (1.0, 0.0), (followed.why, broken.why)
    assert broken.why.startswith(f"{id_}: not followed, ")


def test_every_instruction_has_a_case():
    own = {id_ for id_ in INSTRUCTIONS if not id_.startswith("mine:")}
    assert own == {case[0] for case in CASES}
    assert all(INSTRUCTIONS[id_].sentence.endswith(".") for id_ in own)


# (id, arguments, text, what the reference says, what is right)
REPAIRS = [
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        "***x***",
        True,
        False,
    ),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 1},
        "* a\n\n---\n\n-5 degrees",
        False,
        True,
    ),
    ("detectable_format:json_format", {}, '{"a": NaN}', True, False),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 1}, "a ***b*** c", False, True),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 1, "first_word": "so"},
        "\n\n**So** a\n\nb",
        False,
        True,
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 1},
        "[a](b) [1] []",
        True,
        False,
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        "the U.P.S. store",
        True,
        False,
    ),
    ("language:response_language", {"language": "de"}, "12345", True, False),
    ("change_case:english_capital", {}, "A", False, True),
    ("keywords:existence", {"keywords": ["kind"]}, "unkindly", True, False),
    (
        "keywords:frequency",
        {"keyword": "a.c", "frequency": 1, "relation": "at least"},
        "abc",
        True,
        False,
    ),
    ("startend:end_checker", {"end_phrase": "The end."}, "**The end.**", False, True),
    ("startend:quotation", {}, "“all of it”", False, True),
    ("punctuation:no_comma", {}, "茶，牛奶", True, False),
    ("ratio:sentence_type", {}, "hello world", True, False),
    ("ratio:sentence_balance", {}, 'He said "no." Why? Wow!', False, True),
    ("format:line_indent", {}, "a\n\n\n b", False, True),
    ("words:words_position", {"keyword": "tea"}, "My tea is her tea too...", False, True),
    ("format:sub-bullets", {}, "* one well-known thing", True, False),
    ("format:no_bullets_bullets", {}, "One. Two.\n* a\n\n* b", False, True),
    ("count:conjunctions", {"small_n": 2}, "And tea and milk", True, False),
    ("format:parentheses", {}, "((((( a )", True, False),
    ("ratio:sentence_words", {}, "Ab cd. Ab cd. Ab cd.", True, False),
    ("format:title_case", {}, "We Don't Know", False, True),
    ("format:emoji", {}, "Vive la France 🇫🇷.", False, True),
    ("format:quote_unquote", {}, "b means “a”", True, False),
    ("count:keywords_multiple", LETTERS, "ab bc c c d d d d d e e e e e e e", True, False),
    ("count:unique_word_count", {"N": 2}, "tea -", True, False),
    ("new:copy_span_idx", {"prompt_to_repeat": "abc", "n_start": 1, "n_end": 2}, "bc", False, True),
    (
        "copy:repeat_phrase",
        {"phrase": "I am so old", "small_n": 2},
        "I am so old, I be so old",
        True,
        False,
    ),
    ("keywords:exclude_word_harder", {"keyword": "tea"}, "Tea, please.", True, False),
    ("keywords:palindrome", {}, "a cup", True, False),
    (
        "keywords:keyword_specific_position",
        {"keyword": "tea", "n": 1, "m": 2},
        "My (tea).",
        False,
        True,
    ),
    (
        "count:counting_composition",
        {"n_sent": 1, "n_words": 1},
        "Go.\n* * *\nGo.\n* * *\nGo.",
        False,
        True,
    ),
    ("count:count_unique", {}, "Go, see, win", False, True),
    ("custom:date_format_list", {}, "1796-00-00, 1805-02-29", True, False),
]


@pytest.mark.parametrize(("id_", "arguments", "text", "reference", "right"), REPAIRS)
def test_faithful_gives_the_bug_and_the_default_repairs_it(id_, arguments, text, reference, right):
    assert one(text, id_, arguments, faithful=True).right is reference
    assert one(text, id_, arguments).right is right


def test_the_reference_that_raises_has_no_verdict():
    text = STUDENTS.replace('"9"', "", 1)
    faithful = one(text, "custom:csv_quotes", faithful=True)
    assert (faithful.value, faithful.status) == (None, "undecided")
    assert "IndexError" in faithful.why
    assert one(text, "custom:csv_quotes").value == 0.0


def test_loose_forgives_the_first_line_the_last_line_and_asterisks():
    arguments = {"end_phrase": "Bye."}
    text = "Sure!\nTea is hot. **Bye.**\nIs that all?"
    assert one(text, "startend:end_checker", arguments).value == 0.0
    assert one(text, "startend:end_checker", arguments, mode="loose").value == 1.0
    assert one(" ", "punctuation:no_comma", mode="loose").why.endswith("the response is empty.")


def test_partial_is_the_share_and_has_a_line_for_each():
    ids = ["punctuation:no_comma", "length_constraints:number_paragraphs"]
    rows = [["a, b"], [ids], [[{}, {"num_paragraphs": 1}]]]
    [score] = instruction_reward.scores(*rows, partial=True)
    assert (score.value, score.right) == (0.5, False)
    assert score.why.splitlines() == [
        "punctuation:no_comma: not followed, 1 commas, expected none.",
        "length_constraints:number_paragraphs: followed, 1 paragraphs, expected 1.",
    ]
    assert instruction_reward(*rows) == [0.0]


def test_columns_may_be_json_text_or_those_of_open_instruct():
    ids, arguments = ["count:numbers"], [{"N": 1.0, "num_words": None}]
    assert instruction_reward(["1"], [json.dumps(ids)], [json.dumps(arguments)]) == [1.0]
    truth = [{"instruction_id": ids, "kwargs": arguments}]
    for entry in (truth, json.dumps(truth), str(truth), truth[0]):
        assert instruction_reward(["1"], ground_truth=[entry]) == [1.0]
    assert instruction_reward(["1", "2"], [ids, None], [arguments, None]) == [1.0, None]
    assert instruction_reward(["a"], [["format:no_whitespace"]]) == [1.0]


@pytest.mark.parametrize(
    ("ids", "arguments", "message"),
    [
        (["punctuation:no_coma"], [{}], "row 1: no instr.* did you mean 'punctuation:no_comma'"),
        (["count:numbers"], [{}], "row 1: count:numbers needs the argument 'N'"),
        (["count:numbers"], [{"N": "3"}], "row 1: N of count:numbers must be a whole number"),
        (["count:numbers"], [{"N": 1, "M": 2}], "row 1: count:numbers has no argument 'M'"),
        (["count:numbers"], [{"N": float("nan")}], "row 1: N of count:numbers must be a whole"),
        (["count:numbers"], [], "row 1: kwargs has 0 entries|needs the argument 'N'"),
        (["count:numbers"], [3], "row 1: the kwargs of count:numbers must be a dict"),
        (["keywords:existence"], [{"keywords": "tea"}], "row 1: keywords of .* must be a list"),
        (
            ["keywords:frequency"],
            [{"keyword": "a", "frequency": 1, "relation": "more"}],
            "row 1: relation of",
        ),
        ("count numbers", [], "row 1: instruction_id_list must be a list"),
        ([7], [{}], "row 1: an instruction id must be text"),
    ],
)
def test_wrong_columns_are_errors_that_name_the_row(ids, arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        instruction_reward(["a", "b"], [["format:no_whitespace"], ids], [[{}], arguments])


def test_wrong_settings_are_named():
    with pytest.raises(ValueError, match='mode must be "strict" or "loose"'):
        one("a", "punctuation:no_comma", mode="lose")
    with pytest.raises(TypeError, match="needs instruction_id_list and kwargs, or ground_truth"):
        instruction_reward(["a"])
    with pytest.raises(ValueError, match="as a regular expression"):
        one("a", "keywords:existence", {"keywords": ["c++("]}, faithful=True)
    assert one("I use c++(", "keywords:existence", {"keywords": ["c++("]}).value == 1.0


def test_a_user_adds_a_checker_that_may_read_the_prompt():
    @instruction("mine:echo", "The response has the first word of the prompt.")
    def echo(text: str, prompt: str | None) -> Finding:
        word = (prompt or "").split()[0]
        return Finding(word in text, f'expected "{word}"')

    try:
        prompts = ["tea please", [{"role": "user", "content": "milk please"}]]
        values = instruction_reward(["tea", "tea"], [["mine:echo"]] * 2, prompt=prompts)
        assert values == [1.0, 0.0]
    finally:
        del INSTRUCTIONS["mine:echo"]


def test_the_preset_reads_the_columns_of_the_dataset():
    recipe = load("instructions")
    rows = recipe(["a, b"], instruction_id_list=[["punctuation:no_comma"]], kwargs=[[{}]])
    assert [row.total for row in rows] == [0.0]


def test_a_table_whose_arguments_are_all_empty_is_scored(tmp_path):
    row = {"completion": "a, b", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    command = ["score", str(tmp_path / "rows.jsonl"), "--recipe", "instructions"]
    assert main([*command, "--out", str(tmp_path / "scored"), "--quiet"]) == 0
    [written] = pq.read_table(tmp_path / "scored").to_pylist()
    assert (written["instructions"], written["kwargs"]) == (0.0, "[{}]")


LANGUAGE = "language:response_language", {"language": "en"}
TEXT = "chat noir sur la table with a cup of tea and"


def _value(_):
    return one(TEXT, *LANGUAGE).why


def test_one_value_in_threads_processes_hash_seeds_and_locales():
    values = {_value(n) for n in range(100)}
    with ThreadPoolExecutor(8) as threads:
        values |= set(threads.map(_value, range(50)))
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        values |= set(processes.map(_value, range(2)))
    code = "import test_instructions as t; print(t._value(0))"
    for seed, locale in (("1", "C"), ("2", "tr_TR.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale}
        folder = Path(__file__).parent
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, check=True
        )
        values.add(done.stdout.strip())
    assert len(values) == 1


@pytest.mark.long
@pytest.mark.parametrize("unit", ["a", ". ", "\n", "*", "[", "?! "])
def test_a_megabyte_takes_a_second_at_most(unit):
    text = unit * (1_000_000 // len(unit))
    for id_, arguments, _, _ in CASES:
        for faithful in (False, True):
            start = time.process_time()
            one(text, id_, arguments, faithful=faithful)
            assert time.process_time() - start < 2, id_  # 1 s, on a machine with other work


def test_the_verdicts_are_those_of_the_references(shared):
    """Where `reference_bug` says what is right, it is 95 %; elsewhere all but what is listed."""
    lines = (shared / "families" / "instructions" / "visible.jsonl").read_text().splitlines()
    differences = {"faithful": 0, "default": 0}
    bugs = []
    for row in map(json.loads, lines):
        bug = {entry["index"]: entry["right"] for entry in row["reference_bug"] or ()}
        for index, id_ in enumerate(row["instruction_id_list"]):
            if row["random"] and index in row["random"]:
                continue
            arguments = row["kwargs"][index]
            for mode in ("strict", "loose"):
                verdict = row[mode][index]
                expected = None if isinstance(verdict, str) else verdict
                faithful = one(row["completion"], id_, arguments, mode=mode, faithful=True)
                differences["faithful"] += faithful.right is not expected
                if index not in bug:
                    default = one(row["completion"], id_, arguments, mode=mode)
                    differences["default"] += default.right is not expected
            if bug.get(index) is not None:
                bugs.append(one(row["completion"], id_, arguments).right is bug[index])
    assert differences["faithful"] == 0
    assert differences["default"] <= 30  # English in capitals, and rules that are not bullets
    assert sum(bugs) >= 0.95 * len(bugs)


LANGUAGE_TEXTS = [
    "",
    "12345 …",
    "The quick brown fox jumps over the lazy dog.",
    "THE QUICK BROWN FOX jumps over THE lazy DOG.",
    "NASA and the BBC said: WHAT a day",
    "Der schnelle braune Fuchs springt über den faulen Hund, und niemand weiß, warum.",
    "Tiếng Việt là ngôn ngữ của người Việt, có sáu thanh điệu.",
    "Das ist русский текст с одним немецким словом и больше ничего.",
    "これは日本語の文章です。漢字とかなが混ざっています。",
    "한국어로 쓴 문장입니다.",
    "هذا نص باللغة العربية.",
    "Write to someone@example.com or look at https://example.com/a/b?c=d   twice.",
    "Șase țări și o mie de cuvinte în limba română.",
    "oui, non, sí, sim, ja, hai",
    "word " * 4000,
    "oui   et   non   " * 400 + "this is the rest of it, and it is long. " * 200,
]


@pytest.mark.parametrize("text", LANGUAGE_TEXTS, ids=range(len(LANGUAGE_TEXTS)))
def test_the_language_is_what_langdetect_guesses_with_the_seed_0(text):
    factory = langdetect.DetectorFactory()
    factory.load_profile(langdetect.PROFILES_DIRECTORY)
    detector = factory.create()
    detector.seed = 0
    detector.append(text)
    try:
        expected = detector.detect()
    except langdetect.LangDetectException:
        expected = None
    assert language_of(text) == expected
