"""What every page is made of: a frame, one style, one script, and data that is no script.

Everything a file says is data: JSON in elements that no browser runs, with every `<` escaped, so that nothing in it can
end its element. The script builds elements and sets texts, and the policy of the page allows no script and no style
but these two, by their hashes, and no address but images that are in the page itself.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template

from legato.files.json_text import encode_json
from legato.files.text import printable


def frame(name: str, scripts: Iterable[str], *, title: str) -> tuple[bytes, bytes]:
    """What comes before and behind the first data of a page. `name` is that of its body, and its class in the style.

    Behind it is the script, which reads that data at once and what follows later.
    """
    style = _packaged("page.css")
    script = "\n".join(['"use strict";', "(() => {", *(_packaged(f"{script}.js") for script in scripts), "})();"])
    text = Template(_packaged("head.html") + _packaged(f"{name}.html")).substitute(
        name=name, policy=_policy(style, script), title=escape(printable(title)), style=style, script=script
    )
    before, _, behind = text.partition("<!-- data -->")
    return before.encode("utf-8", "replace"), behind.encode()


def data_element(name: str, value: object) -> bytes:
    """`value` as JSON in an element with the id `name`."""
    return data_of_json(name, encode_element(value))


def data_of_json(name: str, json: bytes) -> bytes:
    """JSON in an element with the id `name`."""
    return b'<script type="application/json" id="' + name.encode() + b'">' + json + b"</script>\n"


def encode_element(value: object) -> bytes:
    """`value` as JSON that holds no `<`: nothing in it can end the element around it, or begin a comment there."""
    return encode_json(value).replace(b"<", b"\\u003c")


def _packaged(name: str) -> str:
    return files("legato.files").joinpath("html", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    style_hash, script_hash = (b64encode(sha256(text.encode()).digest()).decode() for text in (style, script))
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
