"""What a page that was written holds, for the tests."""

import base64
import gzip
import json
import re


def text_of(page):
    """The page, as it is written."""
    return page.read_text(encoding="utf-8")


def data_of(page):
    """The rows of the page's table."""
    packed = re.search(r'id="data">([^<]*)<', text_of(page))[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def styles_in(markup):
    """The style sheets of a page."""
    return "".join(re.findall(r"<style>(.*?)</style>", markup, re.DOTALL))


def scripts_of(page):
    """The code of a page's scripts."""
    return re.findall(r"<script>(.*?)</script>", text_of(page), re.DOTALL)
