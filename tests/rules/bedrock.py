"""Bodies for the rules of the Converse API."""

from legato.model import Json, JsonObject
from rule_examples import Example, json_examples


def _tool(name: str = "read", schema: JsonObject | None = None, **fields: Json) -> JsonObject:
    return {"toolSpec": {"name": name, "inputSchema": {"json": schema or {"type": "object"}}, **fields}}


def _ask(*messages: Json, tools: Json = None, **fields: Json) -> JsonObject:
    return {"messages": list(messages), "toolConfig": {"tools": [_tool()] if tools is None else tools}, **fields}


def _text(text: str = "What does the file say?") -> JsonObject:
    return {"text": text}


def _user(*blocks: Json) -> JsonObject:
    return {"role": "user", "content": list(blocks) or [_text()]}


def _said(*blocks: Json) -> JsonObject:
    return {"role": "assistant", "content": list(blocks) or [_text("It is empty.")]}


def _call(call_id: Json = "tooluse_1", **fields: Json) -> JsonObject:
    return {"toolUse": {"toolUseId": call_id, "name": "read", "input": {"path": "a.txt"}, **fields}}


def _result(call_id: Json = "tooluse_1", *content: Json) -> JsonObject:
    return {"toolResult": {"toolUseId": call_id, "content": list(content) or [_text("Nothing.")], "status": "success"}}


def _thought(**fields: Json) -> JsonObject:
    return {"reasoningContent": {"reasoningText": {"text": "The file.", "signature": "EuYBCkQ…", **fields}}}


def _document(name: str = "report") -> JsonObject:
    return {"document": {"name": name, "format": "txt", "source": {"bytes": "aGVsbG8="}}}


def _body_with(text: str, schema: JsonObject) -> JsonObject:
    return _ask(_user(_text(text)), tools=[_tool("read", schema)])


_FINE = _ask(_user(), _said(_call()), _user(_result()))
_THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2048}}
_MARK = {"cachePoint": {"type": "default"}}
_S3 = {"s3Location": {"uri": "s3://bucket/cat.png"}}

EXAMPLES: dict[str, Example] = {
    **json_examples(_body_with),
    "bedrock/no-messages": Example(refused=_ask(), accepted=_ask(_user())),
    "bedrock/message-form": Example(refused=_ask("Hello"), accepted=_ask(_user())),
    "bedrock/unknown-role": Example(refused=_ask({"role": "system", "content": [_text()]}), accepted=_ask(_user())),
    "bedrock/first-message": Example(refused=_ask(_said(), _user()), accepted=_ask(_user(), _said(), _user())),
    "bedrock/neighbours": Example(
        refused=_ask(_user(), _user(_text("And be brief."))), accepted=_ask(_user(_text(), _text("And be brief.")))
    ),
    "bedrock/content-form": Example(refused=_ask({"role": "user", "content": "Hello"}), accepted=_ask(_user())),
    "bedrock/block-form": Example(
        refused=_ask(_user({"type": "text", "text": "Hello"})), accepted=_ask(_user(_text("Hello")))
    ),
    "bedrock/block-place": Example(refused=_ask(_user(_thought(), _text())), accepted=_ask(_user())),
    "bedrock/blank-text": Example(refused=_ask(_user(_text(" \n"))), accepted=_ask(_user())),
    "bedrock/ends-on-answer": Example(refused=_ask(_user(), _said()), accepted=_ask(_user(), _said(), _user())),
    "bedrock/max-tokens": Example(
        refused=_ask(_user(), inferenceConfig={"maxTokens": 0}),
        accepted=_ask(_user(), inferenceConfig={"maxTokens": 1}),
    ),
    "bedrock/temperature": Example(
        refused=_ask(_user(), inferenceConfig={"temperature": 2}),
        accepted=_ask(_user(), inferenceConfig={"temperature": 0.5}),
    ),
    "bedrock/id-form": Example(refused=_ask(_user(), _said(_call("call 1")), _user(_result("call 1"))), accepted=_FINE),
    "bedrock/id-habit": Example(
        refused=_ask(_user(), _said(_call("functions.read:0")), _user(_result("functions.read:0"))), accepted=_FINE
    ),
    "bedrock/name-form": Example(refused=_ask(_user(), tools=[_tool("read file")]), accepted=_ask(_user())),
    "bedrock/input-form": Example(
        refused=_ask(_user(), _said(_call(input='{"path": "a.txt"}')), _user(_result())), accepted=_FINE
    ),
    "bedrock/duplicate-call-id": Example(
        refused=_ask(_user(), _said(_call(), _call()), _user(_result())),
        accepted=_ask(_user(), _said(_call(), _call("tooluse_2")), _user(_result(), _result("tooluse_2"))),
    ),
    "bedrock/repeated-id": Example(
        refused=_ask(_user(), _said(_call()), _user(_result()), _said(_call()), _user(_result())), accepted=_FINE
    ),
    "bedrock/unanswered-call": Example(refused=_ask(_user(), _said(_call()), _user()), accepted=_FINE),
    "bedrock/result-too-late": Example(
        refused=_ask(_user(), _said(_call()), _user(), _said(), _user(_result())), accepted=_FINE
    ),
    "bedrock/orphan-result": Example(refused=_ask(_user(), _said(), _user(_result())), accepted=_FINE),
    "bedrock/unknown-result": Example(
        refused=_ask(_user(), _said(_call()), _user(_result(), _result("tooluse_2"))), accepted=_FINE
    ),
    "bedrock/duplicate-result": Example(
        refused=_ask(_user(), _said(_call()), _user(_result(), _result())), accepted=_FINE
    ),
    "bedrock/result-not-first": Example(
        refused=_ask(_user(), _said(_call()), _user(_text("Here:"), _result())),
        accepted=_ask(_user(), _said(_call()), _user(_result(), _text("Here it is."))),
    ),
    "bedrock/words-beside-results": Example(
        refused=_ask(_user(), _said(_call()), _user(_result(), _text("Go on."))), accepted=_FINE
    ),
    "bedrock/result-content": Example(
        refused=_ask(_user(), _said(_call()), _user({"toolResult": {"toolUseId": "tooluse_1", "content": []}})),
        accepted=_FINE,
    ),
    "bedrock/result-json": Example(
        refused=_ask(_user(), _said(_call()), _user(_result("tooluse_1", {"json": [1, 2]}))),
        accepted=_ask(_user(), _said(_call()), _user(_result("tooluse_1", {"json": {"lines": 2}}))),
    ),
    "bedrock/result-video": Example(
        refused=_ask(_user(), _said(_call()), _user(_result("tooluse_1", {"video": {"format": "mp4", "source": _S3}}))),
        accepted=_FINE,
    ),
    "bedrock/text-after-call": Example(
        refused=_ask(_user(), _said(_call(), _text("Reading.")), _user(_result())),
        accepted=_ask(_user(), _said(_text("Reading."), _call()), _user(_result())),
    ),
    "bedrock/tool-form": Example(refused=_ask(_user(), tools=[]), accepted=_ask(_user())),
    "bedrock/duplicate-tool": Example(refused=_ask(_user(), tools=[_tool(), _tool()]), accepted=_ask(_user())),
    "bedrock/tool-choice": Example(
        refused={**_ask(_user()), "toolConfig": {"tools": [_tool()], "toolChoice": {"none": {}}}},
        accepted={**_ask(_user()), "toolConfig": {"tools": [_tool()], "toolChoice": {"any": {}}}},
    ),
    "bedrock/tools-undefined": Example(refused={"messages": _FINE["messages"]}, accepted=_FINE),
    "bedrock/reasoning-unsigned": Example(
        refused=_ask(_user(), _said(_thought(signature=""), _call()), _user(_result())),
        accepted=_ask(_user(), _said(_thought(), _call()), _user(_result())),
    ),
    "bedrock/reasoning-last": Example(
        refused=_ask(_user(), _said(_text("Hm."), _thought()), _user()),
        accepted=_ask(_user(), _said(_thought(), _text("Hm.")), _user()),
    ),
    "bedrock/loop-without-reasoning": Example(
        refused={**_FINE, "additionalModelRequestFields": _THINKING},
        accepted=_ask(_user(), _said(_thought(), _call()), _user(_result()), additionalModelRequestFields=_THINKING),
    ),
    "bedrock/media-form": Example(
        refused=_ask(_user(_text(), {"image": {"format": "png", "source": {}}})),
        accepted=_ask(_user(_text(), {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}})),
    ),
    "bedrock/s3-location": Example(
        refused=_ask(_user(_text(), {"image": {"format": "png", "source": _S3}})),
        accepted=_ask(_user(_text(), {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}})),
    ),
    "bedrock/document-name": Example(
        refused=_ask(_user(_text(), _document("report.txt"))), accepted=_ask(_user(_text(), _document()))
    ),
    "bedrock/duplicate-document": Example(
        refused=_ask(_user(_text(), _document(), _document())),
        accepted=_ask(_user(_text(), _document("report 1"), _document("report 2"))),
    ),
    "bedrock/document-alone": Example(refused=_ask(_user(_document())), accepted=_ask(_user(_text(), _document()))),
    "bedrock/cache-marks": Example(
        refused=_ask(_user(*[_text(), _MARK] * 5)), accepted=_ask(_user(*[_text(), _MARK] * 4))
    ),
}
