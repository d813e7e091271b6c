"""Secrets stay out of every form that leaves, and what is no secret stays readable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.diagnostics import HIDDEN, Redactor, redaction

PLAIN = Redactor({})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc123def456", f"Authorization: Bearer {HIDDEN}"),
        ('sent "authorization": "Basic dXNlcjpwYXNzMQ=="', f'sent "authorization": "Basic {HIDDEN}"'),
        ("curl -H 'x-goog-api-key: abcdefgh12345'", f"curl -H 'x-goog-api-key: {HIDDEN}'"),
        ("OPENAI_API_KEY=not-a-known-shape-1", f"OPENAI_API_KEY={HIDDEN}"),
        ("the key sk-proj-a1B2c3D4e5F6 leaked", f"the key {HIDDEN} leaked"),
        ("AIzaSyA1234567890abcdefghijklmnop", HIDDEN),
        ("push with ghp_0123456789abcdefghij", f"push with {HIDDEN}"),
        ("aws AKIAIOSFODNN7EXAMPLE", f"aws {HIDDEN}"),
        ("https://bob:hunter2@host.example/x", f"https://{HIDDEN}@host.example/x"),
        ("jwt eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJ", f"jwt {HIDDEN}"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", HIDDEN),
        ("-----BEGIN PRIVATE KEY-----\ncut off", HIDDEN),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, shown: str):
    assert PLAIN.text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "hist_tool_01AbCdEf call_a1b2c3d4e5 toolu_01XyZ functions.read:0 a1B2c3D4e",
        "max_tokens: 4096 and total_tokens=123456789",
        "use bearer authentication, or a basic understanding of it",
        "token = tokenizer.next_token()",
        "task-1234567890abcdef and risk-assessment-2024-final",
        "see https://host.example:8080/path@2",
        "the password is asked for at the prompt",
    ],
)
def test_ids_and_plain_words_stay_readable(text: str):
    assert PLAIN.text(text) == text


def test_values_of_secret_variables_are_hidden_wherever_they_stand():
    redactor = Redactor({"WIDGET_API_KEY": "correct horse", "DB_PASSWORD": "correct horse battery", "HOME": "/home/me"})

    assert redactor.text("correct horse battery, correct horse, /home/me") == f"{HIDDEN}, {HIDDEN}, /home/me"


def test_variables_that_a_configuration_names_are_hidden_too():
    redactor = Redactor({"MY_MODEL": "opensesame"}, names=["MY_MODEL"], secrets=["another one"])

    assert redactor.text("opensesame another one") == f"{HIDDEN} {HIDDEN}"


def test_short_values_are_no_secrets():
    assert Redactor({"SOME_TOKEN": "true"}).text("it is true") == "it is true"


def test_the_environment_of_the_process_counts_where_none_is_given(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LEGATO_TEST_API_KEY", "from the process")

    assert Redactor().text("see from the process") == f"see {HIDDEN}"


def test_fields_named_for_secrets_are_hidden_in_values():
    value = {
        "headers": {"Authorization": "anything", "X-Api-Key": "at all", "accept": "text/plain"},
        "arguments": [{"password": "letmein", "token": None, "tokens": 3}],
        "ok": True,
    }

    assert PLAIN.value(value) == {
        "headers": {"Authorization": HIDDEN, "X-Api-Key": HIDDEN, "accept": "text/plain"},
        "arguments": [{"password": HIDDEN, "token": None, "tokens": 3}],
        "ok": True,
    }


def test_a_text_that_is_json_is_read_for_the_names_of_its_fields():
    assert PLAIN.text('{"password":"letmein","nested":"[{\\"token\\":\\"abc\\"}]"}') == (
        f'{{"password":"{HIDDEN}","nested":"[{{\\"token\\":\\"{HIDDEN}\\"}}]"}}'
    )


@pytest.mark.parametrize("text", ['{"a": 1,  "b": [ 2 ]}', "{not json}", "[" * 5_000 + "]" * 5_000, "[1]"])
def test_json_without_secrets_keeps_its_form(text: str):
    assert PLAIN.text(text) == text


PIECES = st.sampled_from(
    ["sk", "pk", "gsk", "xai", "r8", "hf", "fw", "pplx", "tvly", "nvapi", "glpat", "ghp", "github_pat", "xoxb", "-", "_", ".",
     "*", ":", "=", "@", "/", "://", " ", "\n", '"', "Bearer", "bearer", "Basic", "authorization", "Proxy-Authorization",
     "api_key", "API-KEY", "secret", "token", "access-token", "passwd", "Password", "passphrase", "x-goog-api-key", "AIza",
     "AKIA", "ASIA", "eyJ", "-----BEGIN RSA PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\u017fk", "to\u212aen",
     "ap\u0131_key", "7", "a1B2c3D4e5", "ABCDEFGH01234567", "é"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_text_that_is_passed_over_at_a_glance_holds_no_secret(text: str):
    assert PLAIN.text(text) == redaction._SHAPES.sub(redaction._hide, text)


def nested(levels: int, inner: object) -> object:
    for level in range(levels):
        inner = {"deeper": inner, "n": level} if level % 2 else [inner]
    return inner


def innermost(value: object) -> object:
    while isinstance(value, dict | list):
        items = list(value.values()) if isinstance(value, dict) else value
        if not items or not isinstance(items[0], dict | list):
            return value
        value = items[0]
    return value


@pytest.mark.parametrize("levels", [10, 500, 5_000, 100_000])
def test_a_secret_is_hidden_however_deep_it_lies(levels: int):
    shown = PLAIN.value(nested(levels, {"password": "letmein"}))

    assert innermost(shown) == {"password": HIDDEN}


@pytest.mark.parametrize("levels", [10, 500, 5_000, 100_000])
def test_a_secret_in_a_text_is_hidden_however_deep_it_lies(levels: int):
    text = "[" * levels + '{"password":"letmein","user":"me"}' + "]" * levels

    assert PLAIN.text(text) == "[" * levels + f'{{"password":"{HIDDEN}","user":"me"}}' + "]" * levels


def test_json_that_is_broken_is_still_read_for_the_names_of_its_fields():
    assert PLAIN.text('{"password" : "let\\"mein", "user": "me", "x": }') == (
        f'{{"password" : "{HIDDEN}", "user": "me", "x": }}'
    )
