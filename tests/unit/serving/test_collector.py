"""A server collects garbage rarely, and leaves the collector as it was."""

from __future__ import annotations

import gc
import weakref

from legato.serving.collector import THRESHOLDS, rare_collections


class Ring:
    def __init__(self) -> None:
        self.own = self


def test_what_was_there_is_left_alone_and_what_comes_is_collected():
    before = gc.get_threshold()
    with rare_collections():
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() > 0
        garbage = weakref.ref(Ring())
        gc.collect()
        assert garbage() is None

    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
