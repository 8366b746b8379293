"""Record training runs: every batch that rewards score, as rows of a scored table.

    recipe = plaudit.record(load("trl-reasoning"), "runs/1")
    GRPOTrainer(reward_funcs=recipe.reward_funcs(), …).train()

    PLAUDIT_RECORD=runs/1 …           # the same, for every recipe that a trainer calls

    runs/1/part-….parquet   the rows, as `plaudit score` writes them: step, group_id, prompt,
                            completion, a column for each component, total, status, explanation
    runs/1/_run.json        the recipe, the components, the columns
    runs/1/thumbnails/      the images of the prompts, small
    runs/1/evaluation/      the same for what the trainer evaluates on
    runs/1/.record/         what the processes that record keep, see `sessions`

`plaudit watch runs/1` follows it; `plaudit report`, `diff` and `audit` read it.
"""

from plaudit.runs.recording import finish, open_recorded, record

__all__ = ["finish", "open_recorded", "record"]
