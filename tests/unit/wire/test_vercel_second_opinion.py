"""The AI SDK itself reads what we print: prompts by its own schema and checks, replies as those of a language model.

Needs node, and the package, which is fetched once into a folder for caches; skipped wherever either cannot be had.
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from dialect_support import call, exchange, failure, make_context, make_target, printed, success
from legato.model import (
    Answer,
    Authority,
    CallId,
    ClosureReason,
    Dialect,
    Ending,
    Entry,
    Foreign,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    Options,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    Usage,
)
from legato.transcript.units import Completion, CompletionKind, Said, Summary, Unit
from legato.wire.context import End
from legato.wire.options import Envelope
from legato.wire.vercel import DIALECT

VERSION = "7.0.169"
PICTURE = Media(MediaKind.IMAGE, "image/png", data="aGk=")
PDF = Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="a.pdf")

SCRIPT = """
import { generateText, streamText, jsonSchema, modelMessageSchema, tool } from 'ai';
import { MockLanguageModelV4, convertArrayToReadableStream } from 'ai/test';
globalThis.AI_SDK_LOG_WARNINGS = false;
let text = '';
for await (const piece of process.stdin) text += piece;
const { bodies, replies } = JSON.parse(text);
const tools = Object.fromEntries(['read', 'bare'].map(
  name => [name, tool({ inputSchema: jsonSchema({ type: 'object' }) })]));
const done = { content: [{ type: 'text', text: 'ok' }], warnings: [],
  finishReason: { unified: 'stop', raw: 'stop' }, usage: { inputTokens: {}, outputTokens: {} } };
const accepted = [];
for (const body of bodies) {
  const wrong = body.messages.filter(message => !modelMessageSchema.safeParse(message).success);
  let error = null;
  try {
    const model = new MockLanguageModelV4({ doGenerate: async () => done });
    const { messages, system, allowSystemInMessages } = body;
    await generateText({ model, messages, system, allowSystemInMessages });
  } catch (problem) { error = String(problem); }
  accepted.push({ wrong, error });
}
const read = [];
for (const { result, parts } of replies) {
  const model = new MockLanguageModelV4({
    doGenerate: async () => result,
    doStream: async () => ({ stream: convertArrayToReadableStream(parts) }),
  });
  const whole = await generateText({ model, prompt: 'x', tools });
  const stream = streamText({ model, prompt: 'x', tools });
  await stream.consumeStream();
  const shown = async from => ({
    text: await from.text, thought: (await from.reasoningText) ?? '', reason: await from.finishReason,
    calls: (await from.toolCalls).filter(c => !c.providerExecuted).map(c => [c.toolCallId, c.toolName, c.input]),
    tokens: [(await from.usage).inputTokens, (await from.usage).outputTokens],
  });
  read.push([await shown(whole), await shown(stream)]);
}
console.log(JSON.stringify({ accepted, read }));
"""


@functools.cache
def sdk_folder() -> Path | None:
    """Where the package is installed; None if it cannot be."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        return None
    folder = Path(platformdirs.user_cache_dir("legato-tests")) / f"ai-sdk-{VERSION}"
    if (folder / "installed").exists():
        return folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", f"ai@{VERSION}"]
        subprocess.run(command, cwd=folder, timeout=120, check=True, capture_output=True)
        (folder / "installed").touch()
    except (OSError, subprocess.SubprocessError):
        return None
    return folder


def ask_the_sdk(question: JsonObject) -> Any:
    folder = sdk_folder()
    if folder is None:
        pytest.skip("node or the AI SDK is not to be had here")
    # The script is no file, which another run of the tests might read half written; its imports are resolved from here.
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", SCRIPT],
        cwd=folder,
        input=json.dumps(question),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def bodies() -> list[JsonObject]:
    """One conversation with everything in it, for targets of every kind."""
    home = make_target(Dialect.VERCEL).origin()
    signed: JsonObject = {"providerOptions": {"acme": {"signature": "s"}}}
    hosted = [
        {"type": "tool-call", "toolCallId": "ws_1", "toolName": "search", "input": {}, "providerExecuted": True},
        {"type": "tool-result", "toolCallId": "ws_1", "toolName": "search", "output": {"type": "json", "value": [1]}},
    ]
    units: list[Unit] = [
        Said(1, (Text("hi"), PICTURE, PDF)),
        exchange(
            [Thinking("hm", native=signed), Text("ok", native=signed), call("a", path="x"), call("b"), call("c")],
            success("a", "seen", media=(PICTURE,)),
            failure("b"),
            Completion(CallId("c"), CompletionKind.SYNTHETIC, reason=ClosureReason.INTERRUPTED),
            origin=home,
        ),
        Said(2, (Text("be brief"),), Authority.INSTRUCTION),
        exchange([HostedTool("search", {}, [1], "ws_1", native={"parts": hosted}), PICTURE, Text("x")], origin=home),
        exchange([Thinking("foreign"), Text("y"), call("d")], success("d", {"n": [1, None, "z"]})),
        Summary(3, "so far"),
    ]
    printed_bodies: list[JsonObject] = []
    for capabilities in (
        {"documents": True, "result_images": True},
        {"documents": True},
        {"images": False, "max_calls": 1, "middle_system": False},
        {"native_tool_history": False, "text_beside_calls": False},
        {"text_beside_calls": False},
    ):
        context = make_context(make_target(Dialect.VERCEL, **capabilities), foreign=Foreign.TEXT)
        messages = [message for unit in units for message in printed(DIALECT.encoder(context).encode(unit, End.HUMAN))]
        head = DIALECT.head(Envelope("be kind", (ToolSpec("read"),), Options()), context)
        printed_bodies.append({**head.fields, "messages": messages})
    return printed_bodies


def replies() -> list[Answer]:
    def answer(*blocks: Any, ending: Ending) -> Answer:
        return Answer(Entry(Speaker.AI, blocks, ending=ending), usage=Usage(10, 5, 4, 2, 3), response_id="r1")

    return [
        answer(Thinking("hm"), Text("hello " * 20), ending=Ending.DONE),
        answer(
            Text("a"),
            ToolCall("read", {"path": "x" * 60}, "call_1"),
            ToolCall("bare", {}, "call_2"),
            ending=Ending.CALLS,
        ),
        answer(HostedTool("read", {"q": 1}, "found", "ws_1"), Text("b"), ending=Ending.LENGTH),
    ]


def stream_parts(answer: Answer) -> list[JsonObject]:
    lines = b"".join(DIALECT.reply_stream(answer, "m")).decode().split("\n\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]


@pytest.mark.slow
def test_the_ai_sdk_accepts_our_prompts_and_reads_our_replies() -> None:
    said = replies()
    question = {
        "bodies": bodies(),
        "replies": [{"result": DIALECT.reply(answer, "m"), "parts": stream_parts(answer)} for answer in said],
    }
    opinion = ask_the_sdk(question)
    assert opinion["accepted"] == [{"wrong": [], "error": None}] * len(question["bodies"])
    reasons = ["stop", "tool-calls", "length"]
    expected = [
        {
            "text": answer.text,
            "thought": "".join(block.text for block in answer.entry.blocks if isinstance(block, Thinking)),
            "reason": reason,
            "calls": [[block.wire_id, block.name, block.arguments] for block in answer.calls],
            "tokens": [10, 5],
        }
        for answer, reason in zip(said, reasons, strict=True)
    ]
    assert opinion["read"] == [[shown, shown] for shown in expected]
