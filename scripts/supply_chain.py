"""What is installed with Legato: a notice of licences, and a bill of materials.

    python scripts/supply_chain.py            writes THIRD-PARTY.md
    python scripts/supply_chain.py --sbom F   writes a bill of materials (CycloneDX 1.6, JSON) to the file F

Both are made from the metadata of the packages in this environment, beginning with what pyproject.toml names, and going
on with what those need on any supported Python. Nothing in them depends on the time or the place of the run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tomllib
from importlib.metadata import PackageMetadata, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
NOTICE = ROOT / "THIRD-PARTY.md"
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("linux", "darwin")
NOT_RUNTIME = frozenset({"dev"})

# What metadata says in words of its own.
SPELLINGS = {
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
}


class Component(NamedTuple):
    """A package that is installed with Legato; `extras` are those that bring it, none if it always comes."""

    name: str
    version: str
    licence: str
    extras: tuple[str, ...]
    needs: tuple[str, ...]


def components() -> list[Component]:
    """Every package that comes with Legato or one of its extras, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    brought: dict[str, set[str]] = {}
    needed: dict[str, set[str]] = {}
    for extra, requirements in groups.items():
        if extra in NOT_RUNTIME:
            continue
        waiting = [Requirement(text) for text in requirements]
        seen: set[tuple[str, frozenset[str]]] = set()
        while waiting:
            requirement = waiting.pop()
            name = canonicalize_name(requirement.name)
            if (name, frozenset(requirement.extras)) in seen:
                continue
            seen.add((name, frozenset(requirement.extras)))
            brought.setdefault(name, set()).add(extra)
            inner = _needs(name, requirement.extras)
            needed.setdefault(name, set()).update(canonicalize_name(one.name) for one in inner)
            waiting += inner
    return [
        Component(name, distribution(name).version, licence_of(name), _extras(extras), tuple(sorted(needed[name])))
        for name, extras in sorted(brought.items())
    ]


def _extras(extras: set[str]) -> tuple[str, ...]:
    return () if "" in extras else tuple(sorted(extras))


def _needs(name: str, extras: set[str]) -> list[Requirement]:
    """What a package needs, on any supported Python and system, and has here."""
    found: list[Requirement] = []
    for text in distribution(name).requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or any(
            requirement.marker.evaluate(
                {
                    "python_version": python,
                    "python_full_version": f"{python}.0",
                    "sys_platform": platform,
                    "extra": extra,
                }
            )
            for python in PYTHONS
            for platform in PLATFORMS
            for extra in ("", *extras)
        ):
            try:
                distribution(requirement.name)
            except PackageNotFoundError:
                continue  # for another version of Python than this one
            found.append(requirement)
    return found


def licence_of(name: str) -> str:
    """The licence of a package as an SPDX expression, as far as its metadata says."""
    metadata = distribution(name).metadata
    if expression := _field(metadata, "License-Expression"):
        return expression
    told = _field(metadata, "License")
    if told and len(told) < 60:
        return SPELLINGS.get(told, told)
    classifiers = [str(line) for line in metadata.get_all("Classifier") or []]
    named = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    return " OR ".join(SPELLINGS.get(one, one) for one in named) or "see its own files"


def _field(metadata: PackageMetadata, name: str) -> str:
    return str(metadata[name]).strip() if name in metadata else ""


def notice(found: list[Component]) -> str:
    """The notice as Markdown."""
    copyleft = [one for one in found if "GPL" in one.licence]
    lines = [
        "# What is installed with Legato",
        "",
        "Legato itself is under the [Apache License 2.0](LICENSE), and its packages hold no code of others. With it",
        "these packages are installed from their own authors, under their own licences; those of an extra only if you",
        "ask for it. `make docs` writes this page from their metadata.",
        "",
        "| package | licence | comes with |",
        "|---|---|---|",
        *(f"| {one.name} | {one.licence} | {', '.join(one.extras) or 'Legato'} |" for one in found),
        "",
    ]
    if copyleft:
        names = ", ".join(f"`{one.name}`" for one in copyleft)
        lines += [
            f"Under the GNU Lesser General Public License: {names}. They come with the",
            "extra `postgres` alone, are used unchanged and through their public interface, and can be replaced by",
            "another version as any package can. Whoever ships a program with them has to keep to that licence.",
            "",
        ]
    return "\n".join(lines)


def sbom(found: list[Component]) -> dict[str, Any]:
    """The bill of materials of the version that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    refs = {one.name: f"pkg:pypi/{one.name}@{one.version}" for one in found}
    direct = {canonicalize_name(Requirement(text).name) for text in project["dependencies"]}
    for extra, requirements in project["optional-dependencies"].items():
        if extra not in NOT_RUNTIME:
            direct |= {canonicalize_name(Requirement(text).name) for text in requirements}
    body: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "purl": own,
                "licenses": [{"expression": project["license"]}],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": refs[one.name],
                "name": one.name,
                "version": one.version,
                "purl": refs[one.name],
                "scope": "optional" if one.extras else "required",
                "licenses": [_licence(one.licence)],
            }
            for one in found
        ],
        "dependencies": [
            {"ref": own, "dependsOn": sorted(refs[name] for name in direct)},
            *({"ref": refs[one.name], "dependsOn": sorted(refs[name] for name in one.needs)} for one in found),
        ],
    }
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    parts = (digest[:8], digest[8:12], f"5{digest[13:16]}", f"8{digest[17:20]}", digest[20:32])
    return {**body, "serialNumber": f"urn:uuid:{'-'.join(parts)}"}


def _licence(text: str) -> dict[str, Any]:
    is_expression = re.fullmatch(r"[A-Za-z0-9.+() -]+", text) is not None and text != "see its own files"
    return {"expression": text} if is_expression else {"license": {"name": text}}


def write_sbom(path: Path) -> None:
    """Write the bill of materials to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(sbom(components()), indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Write one or the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sbom", type=Path, help="write a bill of materials to this file")
    options = parser.parse_args()
    if options.sbom:
        write_sbom(options.sbom)
    else:
        NOTICE.write_text(notice(components()), encoding="utf-8")
    sys.stdout.write(f"{options.sbom or NOTICE}\n")


if __name__ == "__main__":
    main()
