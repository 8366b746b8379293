"""Drawings of a square on shaded paper, and a model that mostly does not look where it is.

The text is the same for all drawings: only the drawing shows where the square is. The paper gets
redder to the right and greener downwards, so that each piece of it shows its own place.
"""

import random
from typing import Any

import numpy as np
import torch
from PIL import Image
from tiny import tokenizer_of, warm_up
from transformers import (
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
    set_seed,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.processing_utils import ProcessorMixin

from plaudit.rewards.vlm_r1 import iou_reward

COLOURS = [(230, 20, 20), (20, 20, 20), (20, 20, 230), (240, 240, 240)]
WIDTH, HEIGHT = 60, 52  # of a drawing; the model sees 56 x 56, which is four tokens of 28 x 28
SIDE, EDGE = 2, 28
RIGHT, FORM = 0.3, 0.8  # share of answers that are right, and well-formed, late in the warm-up
ASKED = "square"
IMAGE, VIDEO = "<|image_pad|>", "<|video_pad|>"
CHAT = (
    "{% for part in messages[-1]['content'] %}"
    "{% if part['type'] == 'image' %}<|image_pad|>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}"
)


class Processor(Qwen2_5_VLProcessor):
    """Qwen2.5-VL's own, without videos, which need torchvision."""

    def __init__(
        self, image_processor: Any = None, tokenizer: Any = None, chat_template: Any = None
    ) -> None:
        self.image_token, self.video_token = IMAGE, VIDEO
        self.image_token_id, self.video_token_id = tokenizer.convert_tokens_to_ids([IMAGE, VIDEO])
        ProcessorMixin.__init__(self, image_processor, tokenizer, chat_template=chat_template)


def paper() -> np.ndarray:
    """A drawing without a square."""
    pixels = np.full((HEIGHT, WIDTH, 3), 100, np.uint8)
    pixels[:, :, 0] = np.linspace(0, 255, WIDTH)[None, :]
    pixels[:, :, 1] = np.linspace(0, 255, HEIGHT)[:, None]
    return pixels


def row(draw: random.Random) -> dict[str, Any]:
    """A drawing of a square; the text does not say where it is."""
    cell = draw.randrange(SIDE * SIDE)
    pixels = paper()
    box = [round(edge) for edge in in_drawing(box_of(cell))]
    pixels[box[1] : box[3], box[0] : box[2]] = draw.choice(COLOURS)
    return {
        "image": Image.fromarray(pixels),
        "prompt": [{"role": "user", "content": ASKED}],
        "solution": str(box),
        "cell": cell,
    }


def rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Drawings; only the solution says where the square is."""
    draw = random.Random(seed)
    return [{name: v for name, v in row(draw).items() if name != "cell"} for _ in range(count)]


def box_of(cell: int) -> list[int]:
    """The box of a cell's square, in the pixels that the model sees."""
    left, top = cell % SIDE * EDGE + 6, cell // SIDE * EDGE + 6
    return [left, top, left + 16, top + 16]


def in_drawing(box: list[int]) -> list[float]:
    seen = SIDE * EDGE
    return [edge * side / seen for edge, side in zip(box, (WIDTH, HEIGHT) * 2, strict=True)]


def answer(one: dict[str, Any], draw: random.Random, is_late: bool) -> str:
    cell = draw.randrange(SIDE * SIDE) if is_late and draw.random() > RIGHT else one["cell"]
    opening = "" if is_late and draw.random() > FORM else "<think>"
    return f'{opening}a {ASKED}</think><answer>{{"bbox_2d": {box_of(cell)}}}</answer>'


def processor_of() -> Processor:
    boxes = [str(box_of(cell)) for cell in range(SIDE * SIDE)]
    texts = [f"{ASKED}<think>a {ASKED}", '</think><answer>{"bbox_2d": }</answer>', *boxes]
    tokenizer = tokenizer_of(texts, special=[IMAGE, VIDEO, "<|vision_start|>"])
    return Processor(Qwen2VLImageProcessorPil(), tokenizer, chat_template=CHAT)


def model_of(processor: Processor, seed: int) -> Qwen2_5_VLForConditionalGeneration:
    """A Qwen2.5-VL of a few layers, untrained."""
    tokenizer = processor.tokenizer
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "max_position_embeddings": 128,
        "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3], "rope_theta": 10000.0},
        "tie_word_embeddings": False,
        "pad_token_id": tokenizer.pad_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
    }
    vision = {
        "depth": 1,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 2,
        "out_hidden_size": 64,
        "fullatt_block_indexes": [0],
    }
    set_seed(seed)
    return Qwen2_5_VLForConditionalGeneration(
        Qwen2_5_VLConfig(
            text_config=text,
            vision_config=vision,
            image_token_id=processor.image_token_id,
            video_token_id=processor.video_token_id,
            vision_start_token_id=tokenizer.convert_tokens_to_ids("<|vision_start|>"),
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )


def make(seed: int, steps: int = 300) -> tuple[Any, Processor]:
    """A model that was warmed up, and its processor."""
    processor = processor_of()
    model = model_of(processor, seed)

    def batch(draw: random.Random, is_late: bool) -> dict[str, torch.Tensor]:
        drawn = [row(draw) for _ in range(64)]
        return batch_of(processor, drawn, [answer(one, draw, is_late) for one in drawn])

    warm_up(model, batch, steps, seed)
    return model, processor


def batch_of(
    processor: Processor, drawn: list[dict[str, Any]], answers: list[str]
) -> dict[str, torch.Tensor]:
    """A batch of drawings with what should be said of them."""
    end = processor.tokenizer.eos_token
    texts = [IMAGE + ASKED + said + end for said in answers]
    images = [one["image"] for one in drawn]
    inputs = processor(text=texts, images=images, padding=True, return_tensors="pt")
    ids = inputs["input_ids"]
    # The prompt is an image and one word: the loss counts what follows.
    starts = (ids == processor.image_token_id).int().cumsum(1).eq(SIDE * SIDE)
    is_said = starts.cumsum(1) > 2
    return {**inputs, "labels": torch.where(is_said & inputs["attention_mask"].bool(), ids, -100)}


def measured(model: Any, processor: Processor, blank: bool = False, count: int = 128) -> float:
    """The mean IoU on drawings that were never trained on, or on blank paper."""
    unseen = rows(count, seed=-1)
    plain = Image.new("RGB", (WIDTH, HEIGHT), (128, 128, 100))
    images = [plain if blank else one["image"] for one in unseen]
    given = processor(
        text=[IMAGE + ASKED] * count, images=images, padding=True, return_tensors="pt"
    )
    model.eval()
    with torch.no_grad():
        ids = model.generate(**given, max_new_tokens=32, do_sample=True)
    said = processor.batch_decode(ids[:, given["input_ids"].shape[1] :], skip_special_tokens=True)
    solutions, drawings = ([one[name] for one in unseen] for name in ("solution", "image"))
    values = iou_reward(said, solutions, image=drawings)
    return sum(values) / count
