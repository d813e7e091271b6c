"""Every example runs as its docstring says, without a key, and prints what it is meant to show."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from documentation_support import ROOT, clean_environment

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

BOTH_FILES = 'read_file returned: "The rehearsal is on Thursday."; read_file returned: "The small hall.".'
FIRST_FILE = 'The first result: read_file returned: "The rehearsal is on Thursday."'

PRINTED = {
    "continue_claude_code_session.py": """\
claude-code: 5 entries, 3 calls, anthropic/claude-sonnet-4-5-20250929
left out or converted for mistral/mistral-large-latest: nothing; it fits: True
  Read {'file_path': 'notes.txt'}: complete
  Grep {'pattern': 'hall'}: pending, told: missing-in-import
  Bash {'command': 'ls'}: pending, told: missing-in-import
mistral/mistral-large-latest: The first result: Read returned: "The rehearsal is on Thursday."
""",
    "custom_provider.py": """\
house/choir-large: openai_chat/strict, a window of 32,768 tokens
house/any-mini: openai_chat/strict, a window of 8,192 tokens
read_file returned: "allegro"; read_file returned: "andante".
house/choir-large: The first result: read_file returned: "allegro"
[1, 1]
refused: 0
""",
    "embed_in_a_loop.py": """\
claude: read_file returned: "The rehearsal is on Thursday."; read_file returned: "The small hall.".
claude: (cancelled)
gpt:    The first result: read_file returned: "The rehearsal is on Thursday."
closed: ['no-result-recorded']
""",
    "failover_service.py": """\
ada: use opening_hours on Thursday
   {"answer": "opening_hours returned: \\"19:00 to 22:00\\".", "route": "anthropic/claude-haiku-4-5", \
"left": ["mistral/mistral-large-latest: the quota is used up; asking again would not help"]}
bob: hello
   {"answer": "claude-haiku-4-5 (simulated) heard: \\"hello\\"", "route": "anthropic/claude-haiku-4-5", "left": []}
ada: what did the first tool return?
   {"answer": "The first result: opening_hours returned: \\"19:00 to 22:00\\"", \
"route": "anthropic/claude-haiku-4-5", "left": []}
""",
    "sdk_anthropic.py": """\
claude-opus-4-8, which was mistral/mistral-large-latest: read_file returned: "The rehearsal is on Thursday.".
claude-opus-4-8, which was openai/gpt-5.1: read_file returned: "The small hall.".
claude-opus-4-8, which was mistral/mistral-large-latest: The first result: read_file returned: \
"The rehearsal is on Thursday."
""",
    "sdk_google.py": f"""\
{BOTH_FILES}
{FIRST_FILE}
""",
    "sdk_mistral.py": f"""\
{BOTH_FILES}
{FIRST_FILE}
""",
    "sdk_openai_chat.py": f"""\
read_file: notes.txt
read_file: hall.txt
{BOTH_FILES}
""",
    "sdk_openai_responses.py": f"""\
{BOTH_FILES}
{FIRST_FILE}
""",
    "subagents.py": """\
  a subagent begins on mistral/mistral-large-latest
  a subagent begins on mistral/mistral-large-latest
anthropic/claude-haiku-4-5: task returned: "read_file returned: "allegro"."; task returned: "read_file returned: \
"andante".".
entries in the parent's log: ['human', 'ai', 'tool', 'tool', 'ai']
used on: anthropic/claude-haiku-4-5, mistral/mistral-large-latest
""",
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_example_runs_and_prints_what_it_is_meant_to_show(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean_environment(tmp_path),
        timeout=200,
        check=False,
    )
    printed = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines() if line.strip())
    assert (done.returncode, done.stderr, printed) == (0, "", PRINTED[example.name])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_example_says_how_to_run_it(example: Path) -> None:
    docstring = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
    assert f"python examples/{example.name}" in docstring


def test_the_page_of_examples_lists_every_one() -> None:
    page = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [example.name for example in EXAMPLES if f"({example.name})" not in page] == []
