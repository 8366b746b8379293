"""A row of a table in; the prompt and the columns that a trainer takes out.

    {"context": "Paris is the capital.", "question": "Which city is it?", "answer": "Paris"}

    {"prompt": [{"role": "system", …}, {"role": "user", "content": "<context>Paris is…"}],
     "problem": "<context>Paris is…", "solution": "Paris"}

The templates ask for the tags that the rewards of CANOE and VLM-R1 read. They are plaudit's own
words, not those of the papers.
"""

from plaudit.prompts._canoe import CANOE_QUESTION, CANOE_SYSTEM, canoe_prompt, canoe_rows
from plaudit.prompts._vlm_r1 import VLM_R1_TEMPLATES, vlm_r1_prompt, vlm_r1_rows

__all__ = [
    "CANOE_QUESTION",
    "CANOE_SYSTEM",
    "VLM_R1_TEMPLATES",
    "canoe_prompt",
    "canoe_rows",
    "vlm_r1_prompt",
    "vlm_r1_rows",
]
