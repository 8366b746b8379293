"""How the image processors of Qwen's models resize an image.

Both sides become multiples of `patch * merge`, and the area stays between two limits; the grid
counts the patches.
"""

from dataclasses import dataclass, fields
from math import ceil, floor, sqrt
from typing import Any

from plaudit.inputs.images import Size

_THINNEST = 200  # the processors refuse an image whose one side is longer than this many others


@dataclass(frozen=True)
class Resize:
    """How an image processor resizes.

    patch: the side of a patch, in pixels
    merge: how many patches in each direction make a token
    min_pixels, max_pixels: between which the area of the resized image is kept
    """

    patch: int
    merge: int
    min_pixels: int
    max_pixels: int

    def grid(self, size: Size) -> list[int]:
        """[frames, rows, columns] of an image of this width and height."""
        width, height = self.resized(size)
        return [1, height // self.patch, width // self.patch]

    def resized(self, size: Size) -> Size:
        """The width and height after resizing: those of `smart_resize` in transformers."""
        width, height = size
        if max(size) > _THINNEST * min(size):
            raise ValueError(
                f"an image of {width} x {height} is too thin for the model's image processor: "
                f"no side may be more than {_THINNEST} times the other"
            )
        step = self.patch * self.merge
        across, down = round(width / step) * step, round(height / step) * step
        if across * down > self.max_pixels:
            shrink = sqrt(width * height / self.max_pixels)
            across, down = (max(step, floor(s / shrink / step) * step) for s in size)
        elif across * down < self.min_pixels:
            grow = sqrt(self.min_pixels / (width * height))
            across, down = (ceil(s * grow / step) * step for s in size)
        return across, down


# As the models are published, in preprocessor_config.json.
MODELS = {
    "Qwen2-VL": Resize(patch=14, merge=2, min_pixels=56 * 56, max_pixels=3584 * 3584),
    "Qwen2.5-VL": Resize(patch=14, merge=2, min_pixels=56 * 56, max_pixels=3584 * 3584),
    "Qwen3-VL": Resize(patch=16, merge=2, min_pixels=256 * 256, max_pixels=4096 * 4096),
}


def resize_of(model: Any, **changes: Any) -> Resize:
    """How the images of a model are resized, with other numbers where some are given."""
    if not isinstance(model, str) or model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}, got {model!r:.80}")
    numbers = {f.name: getattr(MODELS[model], f.name) for f in fields(Resize)}
    for name, value in changes.items():
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be a whole number above 0, got {value!r:.80}")
        numbers[name] = value
    if numbers["min_pixels"] > numbers["max_pixels"]:
        raise ValueError(
            f"min_pixels must not be above max_pixels, got {numbers['min_pixels']} and "
            f"{numbers['max_pixels']}"
        )
    return Resize(**numbers)
