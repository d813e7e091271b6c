"""Signature Version 4 against the vectors that AWS publishes for it."""

from datetime import UTC, datetime

import pytest

from legato.transport.sigv4 import Credentials, SigningScope, signed_headers

WHO = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
SCOPE = SigningScope("us-east-1", "service")
NOW = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
HOST = "https://example.amazonaws.com"


def sign(method: str, url: str, headers: dict[str, str] | None = None, body: bytes = b"") -> dict[str, str]:
    return signed_headers(method, url, headers or {}, body, credentials=WHO, scope=SCOPE, now=NOW)


@pytest.mark.parametrize(
    ("method", "path", "signature"),
    [
        ("GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ],
)
def test_a_request_of_the_published_suite_has_the_published_signature(method: str, path: str, signature: str) -> None:
    assert sign(method, HOST + path) == {
        "x-amz-date": "20150830T123600Z",
        "authorization": (
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            f"SignedHeaders=host;x-amz-date, Signature={signature}"
        ),
    }


def test_a_signature_covers_method_path_headers_and_body() -> None:
    url = f"{HOST}/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"
    headers = {"content-type": "application/json"}
    proofs = [
        sign("POST", url, headers, b"{}"),
        sign("PUT", url, headers, b"{}"),
        sign("POST", url + "-stream", headers, b"{}"),
        sign("POST", url, {"content-type": "text/plain"}, b"{}"),
        sign("POST", url, headers, b"[]"),
    ]
    assert len({proof["authorization"] for proof in proofs}) == len(proofs)


def test_credentials_that_were_lent_send_their_token_and_sign_it() -> None:
    lent = WHO._replace(token="FwoGZXIvYXdzE")
    added = signed_headers("GET", HOST, {}, b"", credentials=lent, scope=SCOPE, now=NOW)
    assert added["x-amz-security-token"] == "FwoGZXIvYXdzE"
    assert "SignedHeaders=host;x-amz-date;x-amz-security-token" in added["authorization"]


def test_credentials_do_not_show_their_secret() -> None:
    assert "wJalr" not in repr(WHO)
