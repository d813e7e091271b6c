"""An answer that a program reads: JSON that fits a schema (`--json-schema FILE`).

In:  a file with a JSON schema; the text of an answer.
Out: what a request says about the answer; the value that the answer holds, or what is wrong with it.

Providers promise to keep to a schema; not all of them do, nor can all of them. So what was answered is checked here,
and a program gets a value that fits, or an exit status that says there is none.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple, cast

from legato.errors import CallerError, IngestError
from legato.model import Json, JsonObject, OutputFormat, read_json
from legato.tools.schema import find_fault

_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
"""a block of code around the whole answer: models that are told of a schema in words like to write one"""


class Checked(NamedTuple):
    """The value that an answer holds, or what is wrong with it."""

    value: Json = None
    fault: str = ""


def read_schema(path: Path) -> OutputFormat:
    """What a request says about its answer, by the schema in the file at `path`; raises `CallerError`."""
    try:
        schema = read_json(path.read_bytes())
    except OSError as error:
        raise CallerError(f"--json-schema: {path} cannot be read: {error.strerror or error}") from None
    except IngestError as error:
        raise CallerError(f"--json-schema: {path} is not JSON: {error.message}") from None
    if not isinstance(schema, dict):
        raise CallerError(f'--json-schema: {path} holds no schema; it is an object, such as {{"type": "object"}}')
    return OutputFormat(schema=cast(JsonObject, schema), name="answer")


def check_answer(text: str, schema: JsonObject) -> Checked:
    """The value in `text`, if it is JSON that fits `schema`."""
    fenced = _FENCED.match(text)
    try:
        value = read_json((fenced[1] if fenced else text).encode())
    except IngestError as error:
        return Checked(fault=f"the answer is not JSON: {error.message}")
    fault = find_fault(value, schema)
    return Checked(fault=f"the answer does not fit the schema: {fault}") if fault else Checked(value)
