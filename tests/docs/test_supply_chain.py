"""What is installed with Legato is named with its licence, bounded by what was tested, and listed for machines."""

from __future__ import annotations

import re
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from documentation_support import ROOT
from scripts.supply_chain import NOTICE, PYTHONS, components, notice, sbom

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUNTIME = [
    Requirement(text)
    for group in (PROJECT["dependencies"], *(PROJECT["optional-dependencies"][name] for name in ("mcp", "postgres", "serve", "otel")))
    for text in group
]  # fmt: skip
LOCKED = dict(
    re.findall(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==([^ \\;]+)", (ROOT / "requirements/dev.txt").read_text(), re.MULTILINE)
)


@pytest.mark.parametrize("requirement", RUNTIME, ids=lambda one: one.name)
def test_a_runtime_dependency_is_bounded_by_the_version_that_was_tested(requirement: Requirement) -> None:
    tested = Version(LOCKED[canonicalize_name(requirement.name)])
    [bound] = [Version(one.version) for one in requirement.specifier if one.operator == "<"]
    following = Version(f"{tested.major + 1}") if tested.major else Version(f"0.{tested.minor + 1}")
    assert tested in requirement.specifier
    assert bound == following


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="on another Python fewer packages are needed")
def test_the_notice_names_every_package_with_its_licence() -> None:
    assert NOTICE.read_text(encoding="utf-8") == notice(components())
    assert "| psycopg | LGPL-3.0-only | postgres |" in NOTICE.read_text(encoding="utf-8")
    assert f"Python :: {PYTHONS[-1]}" in str(PROJECT["classifiers"])


def test_the_bill_of_materials_holds_what_is_installed_and_is_the_same_each_time() -> None:
    found = components()
    bill = sbom(found)
    assert bill == sbom(components())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert re.fullmatch(
        r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}", bill["serialNumber"]
    )
    refs = {one["bom-ref"] for one in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    assert {one["ref"] for one in bill["dependencies"]} == refs
    assert {ref for one in bill["dependencies"] for ref in one["dependsOn"]} <= refs
    assert {canonicalize_name(one.name) for one in RUNTIME} <= {one.name for one in found}
    assert [one.name for one in found if not one.licence or one.licence == "see its own files"] == []
