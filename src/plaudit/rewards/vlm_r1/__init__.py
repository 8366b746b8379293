"""The rewards of VLM-R1: answers, boxes, length, format.

    accuracy_reward(
        completions=["<think>…</think><answer>B</answer>", "<answer>12.0</answer>"],
        solution=["<answer>B</answer>", "<answer>12</answer>"],
        accu_reward_method=["mcq", "default"],
    )

With `DEBUG_MODE=true` the rewards over batches log each attempt to `$LOG_PATH`, or to `vlm_r1.txt`
if that is not set: accuracy and IoU to this file, the others to `…_format.txt`,
`…_cosine.txt` and `…_repetition.txt` next to it.
"""

from plaudit.rewards.vlm_r1._accuracy import (
    accuracy_reward,
    accuracy_reward_async,
    default_accuracy_reward,
    detection_score,
    iou_reward,
)
from plaudit.rewards.vlm_r1._form import (
    cosine_reward,
    cosine_rewards,
    format_reward,
    format_reward_rec,
    get_cosine_rewards,
    repetition_reward,
    repetition_rewards,
)

__all__ = [
    "accuracy_reward",
    "accuracy_reward_async",
    "cosine_reward",
    "cosine_rewards",
    "default_accuracy_reward",
    "detection_score",
    "format_reward",
    "format_reward_rec",
    "get_cosine_rewards",
    "iou_reward",
    "repetition_reward",
    "repetition_rewards",
]
