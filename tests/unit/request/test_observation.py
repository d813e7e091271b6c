"""What observes requests is a layer above them: it is loaded through a slot, and only if something listens."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import legato

_PROGRAM = """
import sys
from legato import Conversation, render

def rendered() -> bool:
    talk = Conversation()
    talk.human("hi")
    render(talk, "openai/gpt-4o")
    return "legato.diagnostics" in sys.modules

print(rendered())
import logging
print(rendered())
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(name)s %(levelname)s")
print(rendered())
"""


def test_diagnostics_are_loaded_for_a_render_only_if_its_line_is_wanted() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines(), done.stderr) == (["False", "False", "legato DEBUG", "True"], "")


def test_no_module_loads_another_of_legato_by_a_name_that_the_import_contracts_cannot_see() -> None:
    named: list[str] = []
    for path in sorted(Path(legato.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "import_module":
                given = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
                named += [name for name in given if name.startswith("legato")]
    assert named == []
