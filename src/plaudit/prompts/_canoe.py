"""A context and a question in; a prompt that asks for CANOE's three tags out."""

from typing import Any

from plaudit.completions import Message
from plaudit.prompts._table import Table, entry_of, rows_in

CANOE_SYSTEM = """\
You answer questions about a passage, which stands between <context> and </context>. Rely on the \
passage alone, also where it contradicts what you know. Reply with three parts and nothing else:

<think>how the passage leads to the answer</think>
<long_answer>the answer in full sentences, with what the passage says in support of it; somebody \
who reads this and not the passage must be able to answer the question</long_answer>
<answer>the answer alone, as short as can be</answer>"""
CANOE_QUESTION = "<context>{context}</context>\n\n{question}"


def canoe_prompt(context: str, question: str) -> list[Message]:
    """The messages that ask a question about a context.

    The presets `canoe` and `canoe-dual` score what the model then writes.

    context: the passage, without <context> tags
    question: what to ask about it

    >>> system, user = canoe_prompt("Paris is the capital of France.", "Which city is it?")
    >>> user["content"]
    '<context>Paris is the capital of France.</context>\\n\\nWhich city is it?'
    """
    return [
        {"role": "system", "content": CANOE_SYSTEM},
        {"role": "user", "content": _asked(context, question)},
    ]


def _asked(context: str, question: str) -> str:
    # In one pass: a context may have braces in it.
    return CANOE_QUESTION.format(context=context, question=question)


def canoe_rows(
    table: Table, *, context: str = "context", question: str = "question", answer: str = "answer"
) -> list[dict[str, Any]]:
    """The rows that a trainer takes, made of rows with a context, a question and an answer.

    A row has `prompt` (see `canoe_prompt`), `problem` (what the user says in it, which
    `len_reward` reads) and `solution`; the table's other columns stay as they are.

    table: a file or URL that `plaudit score` reads, or rows: a list of dicts, a dataset
    context, question, answer: the names of these columns in the table

    >>> [row] = canoe_rows([{"context": "Ada wrote it.", "question": "Who?", "answer": "Ada"}])
    >>> row["problem"], row["solution"]
    ('<context>Ada wrote it.</context>\\n\\nWho?', 'Ada')
    """
    made = []
    for number, row in rows_in(table):
        passage, asked, gold = (entry_of(row, name, number) for name in (context, question, answer))
        if not isinstance(passage, str) or "<context>" in passage or "</context>" in passage:
            raise ValueError(
                f'row {number}: "{context}" must be text without <context> tags, '
                f"got {passage!r:.80}"
            )
        kept = {key: row[key] for key in row if key not in (context, question, answer)}
        prompt = canoe_prompt(passage, str(asked))
        made.append({**kept, "prompt": prompt, "problem": prompt[-1]["content"], "solution": gold})
    return made
