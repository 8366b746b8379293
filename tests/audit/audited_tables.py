"""Small tables of each kind of gold, to audit rewards on."""


def numbers(count=16):
    """Sums with <think> and <answer>; every second completion is wrong."""
    rows = []
    for n in range(count):
        a, b = 7 * n + 13, 11 * n + 4
        gold = a + b + (0.5 if n % 5 == 3 else 1000 if n % 5 == 4 else 0)
        text = f"{gold:g}" if gold < 1000 else str(int(gold))
        said = text if n % 2 == 0 else str(a)
        think = f"First I take {a}, and then I add the other part to it, which makes {said} in all."
        rows.append(
            {
                "prompt": f"Add {a} and what comes with {b}. Give it inside <answer></answer>.",
                "question": f"Add {a} and what comes with {b}.",
                "solution": text,
                "completion": f"<think>{think}</think>\n<answer>{said}</answer>",
            }
        )
    return rows


def hashes(count=16):
    """GSM8K's form, with golds that are numbers; some are negative."""
    rows = []
    for n in range(count):
        gold = 17 * n - 290 if n % 2 else 31 * n + 105
        said = gold if n % 3 else gold + 40
        steps = f"Step 1: I start with {n}.\nStep 2: I go on from there, and so it is {said}."
        rows.append(
            {
                "prompt": f"Where does walk number {n} end? Finish with #### and the number.",
                "question": f"Where does walk number {n} end?",
                "solution": gold,
                "completion": f"{steps}\n#### {said}",
            }
        )
    return rows


FORMULAS = [
    ("3 * 14", "42"), ("7 - 16", "-9"), ("1/3 + 1/4", r"\frac{7}{12}"), ("90 / 4", "22.5"),
    ("5 * 5 + 2", "27"), ("1/2 - 2", r"-\frac{3}{2}"), ("12 * 12", "144"), ("8 - 30", "-22"),
    ("2/5 + 1/5", r"\frac{3}{5}"), ("61 + 8", "69"), ("4 * 0.8", "3.2"), ("3 - 10", "-7"),
]  # fmt: skip


def boxed():
    r"""Formulas to work out, with \boxed{} and no completions."""
    return [
        {"prompt": f"Evaluate {q}. Put the number into \\boxed{{}}.", "question": f"Evaluate {q}.",
         "solution": gold}
        for q, gold in FORMULAS
    ]  # fmt: skip


WORDS = [
    ("Which metal is liquid at room temperature?", "mercury"),
    ("Who painted Guernica?", "Pablo Picasso"),
    ("What is the capital of Norway?", "Oslo"),
    ("Which bird lays the largest eggs?", "ostrich"),
    ("Who wrote Faust?", "Johann Goethe"),
    ("What is the study of fossils called?", "palaeontology"),
    ("Which sea lies between Italy and Croatia?", "Adriatic Sea"),
    ("What is the hardest mineral?", "diamond"),
    ("Which planet has the most moons?", "Saturn"),
    ("Who discovered radium?", "Marie Curie"),
    ("What do bees make wax from?", "honey"),
    ("Which city hosted the first modern Olympics?", "Athens"),
]


def words():
    """Questions whose answer is the whole reply; no completions."""
    return [
        {"prompt": f"{q}\nReply with the answer alone.", "question": q, "solution": gold}
        for q, gold in WORDS
    ]


def contexts():
    """The same questions about a text, answered in <answer>."""
    rows = []
    for n, (question, gold) in enumerate(WORDS):
        context = (
            f"In the notes of number {n} it is written that the reply is {gold}, as everybody in "
            "the village knew at that time, and that the rain had not stopped for a week."
        )
        said = gold if n % 2 == 0 else WORDS[n - 1][1]
        rows.append(
            {
                "prompt": f"<context>{context}</context>\n{question}\n"
                "Use <long_answer></long_answer> and <answer></answer>.",
                "context": context,
                "question": question,
                "solution": gold,
                "completion": f"<long_answer>The notes say about this: {said}, and the rest is "
                f"of no use here.</long_answer>\n<answer>{said}</answer>",
            }
        )
    return rows


OPTIONS = [
    ("How many legs has a spider?", ["Six", "Eight", "Ten", "Four"]),
    ("Which gas do we breathe out?", ["Carbon dioxide", "Helium", "Argon", "Neon"]),
    ("Which of these is a prime?", ["Nine", "Fifteen", "Twenty", "Seven"]),
    ("Which is the smallest ocean?", ["Pacific", "Atlantic", "Arctic", "Indian"]),
]
KEYS = "BADC"


def choices():
    """Multiple choice, with a last line `Answer: X`."""
    rows = []
    for n in range(16):
        question, options = OPTIONS[n % 4]
        key = KEYS[n % 4]
        said = key if n % 3 else "ABCD"[(ord(key) - 64) % 4]
        listed = "\n".join(
            f"{letter}) {text}" for letter, text in zip("ABCD", options, strict=True)
        )
        rows.append(
            {
                "prompt": f"{question}\n{listed}\nFinish with a line Answer: and the letter.",
                "question": question,
                "choices": options,
                "solution": key,
                "completion": f"I looked at all of them and chose what fits best.\nAnswer: {said}",
            }
        )
    return rows


ITEMS = [
    ["north", "south"], ["gin", "lime", "sugar"], ["tin"], ["oak", "elm", "ash", "fir"],
    ["salt", "pepper"], ["zinc"], ["flute", "oboe", "horn"], ["monday", "friday"],
    ["cod"], ["plum", "pear", "fig"], ["red", "amber", "green"], ["wool", "silk"],
]  # fmt: skip


def items():
    """Lists, one item a line inside <answer>."""
    return [
        {
            "prompt": f"Name what belongs to set {n}, each on a line, inside <answer></answer>.",
            "question": f"What belongs to set {n}?",
            "solution": gold,
            "completion": "<answer>"
            + "\n".join(gold if n % 2 == 0 else ITEMS[n - 1])
            + "</answer>",
        }
        for n, gold in enumerate(ITEMS)
    ]


def _box(n):
    left, top = 20 + 37 * n % 300, 15 + 53 * n % 200
    return [left, top, left + 90 + 7 * n % 60, top + 70 + 11 * n % 50]


def box():
    """One box inside <answer>; no completions."""
    return [
        {
            "prompt": f"The image is 640 x 480. Where is thing {n}? Give [x1, y1, x2, y2] inside "
            "<answer></answer>.",
            "solution": str([value + (0.5 if n % 2 else 0) for value in _box(n)]),
            "image_width": 640,
            "image_height": 480,
            "boxes": [{"label": "it", "bbox": _box(n)}, {"label": "other", "bbox": _box(n + 5)}],
        }
        for n in range(12)
    ]


def boxes():
    """Several boxes in a ```json block."""
    rows = []
    for n in range(12):
        gold = [_box(n + 4 * k) for k in range(2 + n % 3)]
        said = gold if n % 2 == 0 else [[value // 2 for value in one] for one in gold]
        rows.append(
            {
                "prompt": "The image is 640 x 480. Detect all cups. Reply with a ```json block.",
                "solution": str(gold),
                "image_width": 640,
                "image_height": 480,
                "completion": f"```json\n{said}\n```",
            }
        )
    return rows


UNITS = ["12 m", "3.5 kg", r"4 \times 10^{5} J", "7", "250 W", r"2 \times 10^{-3} A", "0.5", "9 N",
         r"6.1 \times 10^{8} Hz", "18 V", "2.25", "40 km/h"]  # fmt: skip


def units():
    """Values with units inside <answer>; no completions."""
    return [
        {
            "prompt": f"What is value {n}? Show the calculation, then give it with its unit inside "
            "<answer></answer>.",
            "question": f"What is value {n}?",
            "solution": gold,
        }
        for n, gold in enumerate(UNITS)
    ]


def calls():
    """Calls of one of two functions; no completions."""
    tools = [
        {"name": name, "parameters": {"type": "object", "properties": properties}}
        for name, properties in {
            "book": {"place": {"type": "string"}, "seats": {"type": "integer"}},
            "cancel": {"number": {"type": "integer"}, "why": {"type": "string"}},
        }.items()
    ]
    places = ["Ana", "Bom Dia", "Cais", "Doca", "Estrela", "Figueira"]
    golds = [
        {"name": "book", "arguments": {"place": p, "seats": n + 2}} for n, p in enumerate(places)
    ]
    golds += [
        {"name": "cancel", "arguments": {"number": 70 + 3 * n, "why": f"{p} is closed"}}
        for n, p in enumerate(places)
    ]
    return [
        {"question": f"Task {n}: {gold['name']}.", "solution": [gold], "tools": tools}
        for n, gold in enumerate(golds)
    ]


def objects():
    """Objects with three fields; no completions."""
    towns = ["Porto", "Braga", "Faro", "Lagos", "Tomar", "Viseu", "Beja", "Sines", "Mafra", "Serpa"]
    return [
        {
            "question": f"Describe town {n} as JSON.",
            "solution": {"town": town, "people": 1000 * n + 777, f"sight {n}": f"old {town}"},
        }
        for n, town in enumerate(towns)
    ]


class Words:
    """Stands for a tokenizer: a token for each word."""

    def encode(self, text):
        return text.split()


TABLES = {
    function.__name__: function
    for function in (
        *(numbers, hashes, boxed, words, contexts, choices, items, box, boxes, units),
        *(calls, objects),
    )
}
