"""What of a log is in view: the records that no undo has taken out.

Nothing is removed from the log by an undo. It adds a record that names how far back it goes, and an undo can itself be
undone by a later one.
"""

from __future__ import annotations

from collections.abc import Iterator

from legato.model.records import Record, Rewound


def standing(log: list[Record]) -> Iterator[tuple[int, Record]]:
    """The records that no undo has taken out of the view, with their sequence numbers."""
    undone = undone_spans(log)
    for seq, record in enumerate(log):
        if not any(seq in span for span in undone):
            yield seq, record


def undone_spans(log: list[Record]) -> list[range]:
    """The sequence numbers that undos have taken out of the view."""
    undone: list[range] = []
    for seq in range(len(log) - 1, -1, -1):
        record = log[seq]
        # An undo that was itself undone no longer counts.
        if type(record) is Rewound and not any(seq in span for span in undone):
            undone.append(range(max(record.to, 0), seq + 1))
    return undone
