"""`plaudit audit` of rewards for instructions: what pays without an answer is found."""

import json

import plaudit

KWARGS = [
    {"keywords": ["river", "moon"]},
    {"num_placeholders": 3},
    {"section_spliter": "SECTION", "num_sections": 2},
    {"relation": "at least", "num_words": 40},
]
IDS = [
    "keywords:existence",
    "detectable_content:number_placeholders",
    "detectable_format:multiple_sections",
    "length_constraints:number_words",
]


def rows(as_text=False):
    made = [
        {"prompt": f"Write about {n}.", "instruction_id_list": [id_], "kwargs": [arguments]}
        for n in range(2)
        for id_, arguments in zip(IDS, KWARGS, strict=True)
    ]
    return [{k: json.dumps(v) for k, v in row.items()} for row in made] if as_text else made


def test_constraints_that_are_met_around_nothing_are_found():
    for table in (rows(), rows(as_text=True)):
        found = plaudit.audit(table, "instructions", only=["stuffing"])
        [finding] = [f for f in found.findings if f.attack == "constraints_around_nothing"]
        assert finding.is_hole and finding.share > 0.9


def test_rows_without_instructions_are_left_alone():
    table = [{"question": f"{n} + 1?", "solution": str(n + 1)} for n in range(20, 28)]
    found = plaudit.audit(table, "answers.f1_reward", only=["stuffing"])
    assert "constraints_around_nothing" not in {f.attack for f in found.findings}
