"""An image of 280 by 140 pixels."""

import pytest
from PIL import Image


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "image.png"
    Image.new("RGB", (280, 140)).save(path)
    return path
