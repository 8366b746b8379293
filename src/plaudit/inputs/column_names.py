"""What datasets and trainers call their columns: one table of synonyms, for every command.

A column that has the very name that a reward asks for, such as `solution`, is always the one that
is read. If there is none, the first synonym that the table has is, in the order below.
"""

from collections.abc import Collection, Iterable

COMPLETION = (
    *("completion", "completions", "response", "generation", "output", "prediction", "text"),
    *("responses", "generations", "outputs", "predictions", "generated_text", "model_output"),
    *("model_response", "messages"),
)
PROMPT = (
    *("prompt", "prompts", "problem", "question", "query", "instruction", "input"),
    *("problems", "questions"),
)
# Names that say what they hold come before `answer`, which may be what a model answered.
GOLD_KEYS = (
    *("ground_truth", "solution", "gold", "expected_answer", "gold_answer", "correct_answer"),
    *("target_answer", "reference_answer", "final_answer", "answer", "target"),
)
# Keys of a dict that holds a gold are GOLD_KEYS alone: the label of a box is no gold.
GOLD = (
    *GOLD_KEYS,
    *("reference", "ref", "golden_answer", "expected", "expected_output"),
    *("answer_key", "reward_model", "reward_spec", "label"),
    *("golds", "answers", "targets", "references", "solutions", "labels"),
)
CHOICES = ("choices", "options")
TESTS = (
    *("tests", "test_cases", "input_output", "verification_info", "unittest", "test_list", "test"),
    *("test_code", "public_test_cases", "reward_model", "ground_truth"),
)
# A program that passes the tests of its row.
PROGRAM = ("reference_solution", "canonical_solution", "reference_program", "solution", "code")
IMAGE = ("image_path", "image", "images", "image_paths", "image_file")
GROUP = ("uid", "prompt_id", "group_index")  # of verl, ms-swift and slime: what they drew together
STEP = ("step", "global_step", "global_steps", "training_step", "rollout_id")
TOKENS = (
    *("completion_ids", "token_ids", "response_ids", "output_ids", "output_token_ids", "tokens"),
)

# The argument of a reward -> what tables call its column.
SYNONYMS = {
    "completions": COMPLETION,
    "solution": GOLD,
    "prompts": PROMPT,
    "problem": PROMPT,
    "choices": CHOICES,
    "tests": TESTS,
    "completion_ids": TOKENS,
    "image_path": (*IMAGE, "file_name"),
    "image_grid_thw": ("grid_thw", "image_grid", "grid"),
    "accu_reward_method": ("reward_method", "method"),
}


def first_of(names: Iterable[str], available: Collection[str]) -> str | None:
    """The first of these names that a table has, as the table spells it; None if it has none.

    Case and what separates words do not matter: "Ground Truth" is ground_truth.
    """
    spelt = {_bare(name): name for name in reversed(list(available))} | {n: n for n in available}
    return next((spelt[key] for name in names for key in (name, _bare(name)) if key in spelt), None)


def _bare(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
