"""`make` uses an environment of the Python that was named, and no other."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not (ROOT / "Makefile").exists() or shutil.which("make") is None, reason="there is no make here, or no Makefile"
)


def fake_python(path: Path, version: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone in which nothing has been made yet."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/dev.txt").touch()
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def planned(clone: Path, *arguments: str) -> str:
    """What `make demo` would do."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTHON"))
    }
    done = subprocess.run(
        ["make", "-n", "demo", *arguments], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_the_default_is_called_venv_whatever_it_was_made_of(clone: Path) -> None:
    assert "python3 -m venv --clear .venv\n" in planned(clone)
    fake_python(clone / ".venv/bin/python", "3.11")
    assert planned(clone).endswith("\n.venv/bin/legato demo \n")


def test_the_first_python_that_is_named_makes_the_default(clone: Path) -> None:
    python = fake_python(clone / "named", "3.13")
    assert f"{python} -m venv --clear .venv\n" in planned(clone, f"PYTHON={python}")
    fake_python(clone / ".venv/bin/python", "3.13")
    assert planned(clone, f"PYTHON={python}").endswith("\n.venv/bin/legato demo \n")


def test_another_python_gets_an_environment_of_its_own(clone: Path) -> None:
    fake_python(clone / ".venv/bin/python", "3.11")
    python = fake_python(clone / "named", "3.13")
    plan = planned(clone, f"PYTHON={python}")
    assert f"{python} -m venv --clear .venv-3.13\n" in plan
    assert plan.endswith("\n.venv-3.13/bin/legato demo \n")
    (clone / ".venv-3.13").mkdir()
    (clone / ".venv-3.13/.ready").touch()
    assert planned(clone, f"PYTHON={python}") == ".venv-3.13/bin/legato demo \n"


def test_a_python_that_cannot_be_started_is_named(clone: Path) -> None:
    assert "PYTHON=python3.99 cannot be started" in planned(clone, "PYTHON=python3.99")
