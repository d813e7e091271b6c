"""ZIP archives: the logs of Inspect, what is in them, and what is wrong with one."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

from file_samples import legato
from legato.errors import FormatError, UnknownFormat
from legato.formats import archive, detect, lint_document, read, read_all
from session_files import INSPECT

LOG = json.loads(INSPECT)
(SAMPLE,) = LOG["samples"]
HEADER = {name: value for name, value in LOG.items() if name != "samples"}


def packed(files: dict[str, Any], compression: int = ZIP_DEFLATED) -> bytes:
    """An archive as Inspect writes it: every file is JSON."""
    out = io.BytesIO()
    with ZipFile(out, "w", compression) as file:
        for name, value in files.items():
            file.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return out.getvalue()


def zstandard(data: bytes) -> bytes:
    """The same archive, said to be compressed with Zstandard: the number is in two places for each file."""
    return data.replace(b"PK\x03\x04\x14\x00\x00\x00\x00\x00", b"PK\x03\x04\x14\x00\x00\x00\x5d\x00").replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x5d\x00"
    )


@pytest.mark.parametrize("about", ["header.json", "_journal/start.json"])
@pytest.mark.parametrize("compression", [ZIP_DEFLATED, ZIP_STORED])
def test_a_sample_in_an_archive_is_the_conversation_that_it_is_in_json(about: str, compression: int) -> None:
    data = packed({about: HEADER, "summaries.json": [], "samples/1_epoch_1.json": SAMPLE}, compression)
    assert detect(data) == ("inspect", "an archive with a file for each sample")
    document, told = read(data), read(INSPECT)
    assert (document.entries, document.route, document.meta) == (told.entries, told.route, told.meta)
    assert document.places == [f"samples/1_epoch_1.json: {place.removeprefix('samples[0].')}" for place in told.places]
    assert lint_document(document) == []


def test_samples_come_by_epoch_and_number_and_say_which_they_are() -> None:
    names = {"a": (1, 1), "c": (2, 2), "b": (10, 1)}
    samples = {
        f"samples/{own}_epoch_{epoch}.json": {
            **SAMPLE,
            "id": own,
            "epoch": epoch,
            "messages": [{"role": "user", "content": said}],
        }
        for said, (own, epoch) in names.items()
    }
    documents = read_all(packed({"header.json": HEADER, **samples}), name="log.eval")
    assert [(document.name, document.entries[0].text) for document in documents] == [
        ("log.eval, sample 1", "a"),
        ("log.eval, sample 10", "b"),
        ("log.eval, sample 2, epoch 2", "c"),
    ]


def test_a_number_of_a_sample_may_have_any_number_of_digits() -> None:
    names = [f"samples/{own}_epoch_1.json" for own in ("7", "9" * 5_000)]
    documents = read_all(packed({"header.json": HEADER, **dict.fromkeys(names, SAMPLE)}))
    assert [document.places[0].partition(": ")[0] for document in documents] == [names[1], names[0]]


def test_an_archive_with_zstandard_says_what_makes_it_readable() -> None:
    data = zstandard(packed({"header.json": HEADER, "samples/1_epoch_1.json": SAMPLE}, ZIP_STORED))
    with pytest.raises(
        FormatError, match=r"header.json is compressed with Zstandard, .* `inspect log convert FILE --to"
    ):
        read(data)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (packed({"a.json": {}}), "this is a ZIP archive, but no log of Inspect; try the files in it"),
        (packed({"header.json": HEADER})[:40], "this begins as a ZIP archive, but is damaged: File is not a zip file"),
        (packed({"header.json": HEADER, "samples/1_epoch_1.json": b"{"}), "samples/1_epoch_1.json: "),
    ],
    ids=["no log", "cut off", "a damaged sample"],  # the bytes of an archive hold the time at which it was made
)
def test_what_is_wrong_with_an_archive_is_said_in_a_line(data: bytes, told: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(data)
    assert told in caught.value.message


def test_an_archive_that_is_no_log_can_be_ignored_in_a_folder() -> None:
    with pytest.raises(UnknownFormat):
        read(packed({"a.json": {}}))


def test_an_archive_is_no_file_of_lines_and_no_value() -> None:
    data = packed({"header.json": HEADER, "samples/1_epoch_1.json": SAMPLE})
    with pytest.raises(FormatError, match="this is a ZIP archive, and files of legato are none"):
        read(data, format="legato")
    with pytest.raises(FormatError, match="this is a ZIP archive, and not one JSON value"):
        read(data, format="anthropic")


def test_a_file_that_unpacks_to_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed({"header.json": HEADER, "samples/1_epoch_1.json": {"messages": ["x" * 100_000]}})
    monkeypatch.setattr(archive, "MAX_JSON_BYTES", 50_000)
    with pytest.raises(FormatError, match=r"samples/1_epoch_1.json is larger than 0 MB and is not read"):
        read(data)


def test_lint_finds_archives_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "log.eval").write_bytes(packed({"header.json": HEADER, "samples/1_epoch_1.json": SAMPLE}))
    assert legato("lint", tmp_path).stderr.splitlines()[-1] == "1 file: nothing found"
