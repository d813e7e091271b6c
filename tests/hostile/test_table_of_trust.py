"""Every cell of the table of trust is tried by a test of this folder."""

from __future__ import annotations

from pathlib import Path

from legato.model.trust import TABLE, Party, Power
from trust_cells import proven_in


def test_no_cell_of_the_table_is_without_a_scenario() -> None:
    assert set(TABLE) == {(party, power) for party in Party for power in Power}
    assert set(TABLE) - proven_in(Path(__file__).parent) == set()
