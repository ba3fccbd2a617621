# SPDX-License-Identifier: BSD-2-Clause
"""The time box of a subject: when it has to be over, and how its comparisons share it."""
import time

FOR_ROUNDS = 0.9  # of a box: the rest is for a last round that takes longer than those before


class Box:
    """A box that ends after this many seconds."""

    def __init__(self, seconds, clock=time.monotonic):
        self.clock = clock
        self.end = clock() + seconds                   # whatever runs then is killed
        self.share = clock() + FOR_ROUNDS * seconds    # no round begins that may end later; shares() moves it
        self.ended = []                                # what was killed

    def left(self):
        """Seconds until the end; 0 behind it."""
        return max(0.0, self.end - self.clock())

    def left_for_rounds(self):
        """Seconds of the current share."""
        return max(0.0, self.share - self.clock())

    def fits(self, seconds):
        """Whether a round that takes so long is over within the current share."""
        return seconds <= self.share - self.clock()

    def shares(self, items):
        """The items, one after the other. Every item gets an equal part of what is left of the current share; what one leaves goes to the rest."""
        items = list(items)
        whole = self.share
        for i, item in enumerate(items):
            now = self.clock()
            self.share = now + max(0.0, whole - now) / (len(items) - i)
            yield item
        self.share = whole


def scaled(boxes, minutes):
    """(boxes, factor): those boxes, {subject: seconds}, stretched or cut so that together they take these minutes; None: as they are."""
    factor = 1.0 if minutes is None else minutes * 60 / sum(boxes.values())
    return {name: seconds * factor for name, seconds in boxes.items()}, factor
