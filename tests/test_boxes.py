"""Overlap, matching and average precision."""

import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.scores import boxes
from plaudit.scores.boxes import Box, Match, average_precision, box_of, corners_of, iou, match

UNIT = (0.0, 0.0, 10.0, 10.0)


@pytest.mark.parametrize(
    ("other", "value"),
    [
        (UNIT, 1.0),
        ((0.0, 5.0, 10.0, 15.0), 1 / 3),
        ((20.0, 20.0, 30.0, 30.0), 0.0),
        ((9.0, 0.0, 19.0, 10.0), 0.0),  # one pixel is no overlap
        ((0.0, 9.0, 10.0, 19.0), 0.0),
        ((10.0, 10.0, 0.0, 0.0), 0.0),  # inside out
        ((5.0, 5.0, 5.0, 5.0), 0.0),
        ((-1e200, -1e200, 1e200, 1e200), 0.0),
        ((-1e308, -1e308, 1e308, 1e308), 0.0),
    ],
)
def test_iou(other, value):
    assert iou(UNIT, other) == pytest.approx(value)
    assert iou(other, UNIT) == pytest.approx(value)


def test_iou_without_the_rule_of_one_pixel():
    assert iou(UNIT, (9.0, 0.0, 19.0, 10.0), thinnest=0.0) == pytest.approx(10 / 190)


def test_huge_boxes_have_no_ratio():
    huge = (-1e300, -1e300, 1e300, 1e300)
    assert iou(huge, huge) == 0.0
    assert match([huge] * 20, [huge] * 20, 0.5) == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        "1234",
        [],
        [1, 2, 3],
        [1, 2, 3, 4, 5],
        ["1", "2", "3", "4"],
        [1, 2, 3, None],
        [1, 2, 3, True],
        [1, 2, 3, float("nan")],
        [1, 2, 3, float("inf")],
        [1, 2, 3, 10**400],
        [1, 2, 3, [4]],
    ],
)
def test_what_is_no_box(value):
    assert corners_of(value) is None
    assert box_of({"bbox_2d": value, "label": "cat"}) == Box(None, "cat")


@pytest.mark.parametrize("item", [None, 5, "box", [1, 2, 3, 4], {}])
def test_items_without_a_box(item):
    assert box_of(item) == Box(None, None)


def scanned(preds, golds, threshold):
    """Greedy matching as it is told: look for the best pair, over and over."""
    table = [[iou(p, g) if p and g else 0.0 for g in golds] for p in preds]
    free_preds, free_golds = list(range(len(preds))), list(range(len(golds)))
    matches = []
    while free_preds and free_golds:
        best, at = -1.0, (-1, -1)
        for p in free_preds:
            for g in free_golds:
                if table[p][g] > best:
                    best, at = table[p][g], (p, g)
        if best < threshold:
            break
        matches.append(Match(*at, best))
        free_preds.remove(at[0])
        free_golds.remove(at[1])
    return matches


# Few places, so that ties and equal boxes are frequent.
places = st.integers(0, 6).map(lambda v: 4.0 * v)
corners = st.one_of(st.none(), st.tuples(places, places, places, places))
box_lists = st.lists(corners, max_size=25)
thresholds = st.sampled_from([-1.0, 0.0, 0.1, 0.5, 0.75, 1.0, 1.1])


@given(box_lists, box_lists, thresholds)
@settings(max_examples=examples(300))
def test_matching_is_the_scan(preds, golds, threshold):
    assert match(preds, golds, threshold) == scanned(preds, golds, threshold)


@given(box_lists.filter(len), box_lists.filter(len), thresholds)
@settings(max_examples=examples(300))
def test_arrays_find_the_pairs_that_plain_python_finds(preds, golds, threshold):
    plain = list(boxes._pairs(preds, golds, threshold, 1.0))
    assert list(boxes._many_pairs(preds, golds, threshold, 1.0)) == plain


def test_memory_is_bounded_by_looking_at_some_pairs_at_a_time(monkeypatch):
    monkeypatch.setattr(boxes, "_MANY", 60)
    row = [(float(i), 0.0, i + 9.0, 9.0) for i in range(40)]
    assert match(row, row, 0.5) == [Match(i, i, 1.0) for i in range(40)]


CAT = Box((0.0, 0.0, 100.0, 100.0), "cat")
DOG = Box((200.0, 200.0, 300.0, 300.0), "dog")


@pytest.mark.parametrize(
    ("preds", "golds", "ap", "ap50"),
    [
        ([CAT, DOG], [CAT, DOG], 1.0, 1.0),
        ([CAT], [CAT, DOG], 0.5, 0.5),
        ([Box((0.0, 0.0, 100.0, 72.0), "cat")], [CAT], 0.5, 1.0),
        ([DOG], [CAT], 0.0, 0.0),  # no gold box has its label
        ([Box(DOG.corners, "cat"), CAT], [CAT], 0.5, 0.5),  # a wrong one first
        ([Box(None, "cat"), CAT], [CAT], 0.5, 0.5),
        ([Box((100.0, 100.0, 0.0, 90.0), "cat"), CAT], [CAT], 0.5, 0.5),
        ([Box(CAT.corners)], [Box(CAT.corners)], 1.0, 1.0),
        ([Box(CAT.corners, [1])], [Box(CAT.corners, [1])], 1.0, 1.0),
        ([Box((0.0, 0.0, 1e6, 1e6), "cat")], [Box((0.0, 0.0, 1e6, 1e6), "cat")], 0.0, 0.0),
    ],
)
def test_average_precision(preds, golds, ap, ap50):
    found = average_precision(preds, golds)
    assert found.ap == pytest.approx(ap, abs=1e-6)
    assert found.ap50 == pytest.approx(ap50, abs=1e-6)


def test_average_precision_prints_nothing(capfd):
    average_precision([CAT], [CAT])
    assert capfd.readouterr() == ("", "")


def test_average_precision_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "faster_coco_eval", None)
    with pytest.raises(ImportError, match=r"pip install 'plaudit\[coco\]'"):
        average_precision([CAT], [CAT])


def test_average_precision_is_that_of_pycocotools():
    coco = pytest.importorskip("pycocotools.coco")
    cocoeval = pytest.importorskip("pycocotools.cocoeval")
    golds = [Box((40.0 * i, 0.0, 40.0 * i + 30, 30.0), "ab"[i % 2]) for i in range(9)]
    preds = [Box((40.0 * i + i, 2.0, 40.0 * i + 33, 31.0), "ab"[i % 3 % 2]) for i in range(8)]

    def record(box, number):
        left, top, right, bottom = box.corners
        width, height = right - left, bottom - top
        label = "ab".index(box.label) + 1
        return {
            "id": number,
            "image_id": 1,
            "category_id": label,
            "bbox": [left, top, width, height],
            "area": width * height,
            "iscrowd": 0,
            "score": 1.0,
        }

    truth = coco.COCO()
    truth.dataset = {
        "images": [{"id": 1}],
        "categories": [{"id": 1}, {"id": 2}],
        "annotations": [record(box, i) for i, box in enumerate(golds, 1)],
    }
    truth.createIndex()
    found = truth.loadRes([record(box, i) for i, box in enumerate(preds, 1)])
    evaluation = cocoeval.COCOeval(truth, found, "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    ours = average_precision(preds, golds)
    assert 0.1 < ours.ap < 0.9
    assert math.isclose(ours.ap, evaluation.stats[0], abs_tol=1e-6)
    assert math.isclose(ours.ap50, evaluation.stats[1], abs_tol=1e-6)
