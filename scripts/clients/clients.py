"""How each client is set up and started without a person, and how it says what came of it.

Every one is led to the gateway by the lines of `legato serve --env`, as a person would lead it. What is set here beside
them keeps it from asking anybody for permission and from asking for anything but models.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Any, NamedTuple

SONGS = Path(__file__).resolve().with_name("songs.py")


class Place(NamedTuple):
    """Where a client runs."""

    home: Path
    project: Path
    port: int
    song_calls: Path
    """where the MCP server notes what it is asked"""
    song_word: str

    @property
    def server(self) -> list[str]:
        """How the MCP server is started."""
        return [sys.executable, str(SONGS), str(self.song_calls), self.song_word]


class Going(Enum):
    """Which conversation a message belongs to."""

    NEW = auto()
    CONTINUED = auto()
    """the newest of this folder"""
    RESUMED = auto()
    """one that is named by its id"""


class Said(NamedTuple):
    """What a client printed: its last answer, and the id of the conversation."""

    text: str
    session: str


class Tools:
    """How a client's tools are asked for, in the words that simulated models understand."""

    def __init__(self, read: tuple[str, str], shell: tuple[str, str], edit: Callable[[str, str, str], str]) -> None:
        self._read, self._shell, self._edit = read, shell, edit

    def read(self, path: Path) -> str:
        """Look into one file."""
        return call(self._read[0], {self._read[1]: str(path)})

    def read_both(self, one: Path, other: Path) -> str:
        """Look into two files at once."""
        return f"{self.read(one)} and {self.read(other)}"

    def shell(self, command: str) -> str:
        """Run a command."""
        return call(self._shell[0], {self._shell[1]: command} | EXTRAS.get(self._shell[0], {}))

    def edit(self, path: Path, old: str, new: str) -> str:
        """Change a line, in a file that was read before."""
        return self._edit(str(path), old, new)

    def find_song(self, name: str, title: str) -> str:
        """Call the tool of the MCP server, by the `name` under which the client offers it."""
        return call(name, {"title": title})


EXTRAS: Mapping[str, dict[str, Any]] = {
    "Bash": {"description": "Look."},
    "run_shell_command": {"is_background": False},
}
"""arguments that shells want beside the command"""


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """The words for one call."""
    return f"call {name} with {json.dumps(arguments)}"


class CodeMode(Tools):
    """Codex with its newest models, which call everything from JavaScript in one tool."""

    def __init__(self) -> None:
        super().__init__(("exec", "input"), ("exec", "input"), lambda path, old, new: "")

    def read(self, path: Path) -> str:
        return self.shell(f"cat {path}")

    def read_both(self, one: Path, other: Path) -> str:
        files = json.dumps([str(one), str(other)])
        return _script(
            f"const r = await Promise.all({files}.map(f => tools.exec_command({{cmd: 'cat ' + f}}))); "
            "text(r.map(x => x.output).join('; '))"
        )

    def shell(self, command: str) -> str:
        return _script(f"text((await tools.exec_command({{cmd: {json.dumps(command)}}})).output)")

    def edit(self, path: Path, old: str, new: str) -> str:
        return _script(f"text(await tools.apply_patch({json.dumps(patch(path, old, new))}))")

    def find_song(self, name: str, title: str) -> str:
        return _script(f"text(JSON.stringify(await tools.{name}({json.dumps({'title': title})})))")


def _script(code: str) -> str:
    return call("exec", {"input": code})


def patch(path: Path | str, old: str, new: str) -> str:
    """A change in the form that OpenAI's models are taught."""
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"


@dataclass(frozen=True)
class Client:
    """One client, with the model that it believes to talk to."""

    title: str
    package: str
    env: str
    """its name for `legato serve --env`; empty if there is none, and `files` lead it"""
    command: Callable[[Place, str, Going, str], list[str]]
    """place, message, which conversation, its id"""
    read: Callable[[str], Said]
    tools: Tools
    song: str = ""
    """its name for the tool of the MCP server; empty if it knows no such servers"""
    search: str = ""
    """the words for a search that has to come before the call of such a tool"""
    files: Callable[[Place], dict[str, str]] = lambda place: {}
    """settings, by their paths in the home folder"""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    heeds_no_proxy: bool = True
    takes_stdin: bool = False
    """whether it has to be told the message on its standard input"""


# --- Claude Code ------------------------------------------------------------------------------------------------------


def _claude(place: Place, message: str, going: Going, session: str) -> list[str]:
    which = {Going.NEW: [], Going.CONTINUED: ["--continue"], Going.RESUMED: ["--resume", session]}[going]
    allowed = "Read,Edit,Bash,mcp__songs"
    options = ["--output-format", "json", "--permission-mode", "acceptEdits", "--allowedTools", allowed]
    return ["claude", "-p", message, *options, "--mcp-config", str(place.home / "mcp.json"), *which]


def _claude_files(place: Place) -> dict[str, str]:
    first, *rest = place.server
    return {"mcp.json": json.dumps({"mcpServers": {"songs": {"command": first, "args": rest}}})}


def _result(printed: str) -> Said:
    """One JSON object, or an array of which the last one counts."""
    told = json.loads(printed)
    last = told[-1] if isinstance(told, list) else told
    return Said(str(last.get("result", "")), last["session_id"])


# --- Codex ------------------------------------------------------------------------------------------------------------


def _codex(model: str) -> Callable[[Place, str, Going, str], list[str]]:
    def command(place: Place, message: str, going: Going, session: str) -> list[str]:
        options = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        options += ["--model", model] if model else []
        which = {Going.NEW: [], Going.CONTINUED: ["resume", "--last"], Going.RESUMED: ["resume", session]}[going]
        return ["codex", "exec", *options, *which, message]

    return command


def _codex_files(place: Place) -> dict[str, str]:
    first, *rest = place.server
    lines = ["check_for_update_on_startup = false", "[analytics]", "enabled = false", "[mcp_servers.songs]"]
    return {".codex/config.toml": "\n".join([*lines, f"command = {json.dumps(first)}", f"args = {json.dumps(rest)}"])}


def _codex_said(printed: str) -> Said:
    session, text = "", ""
    for event in _events(printed):
        session = event.get("thread_id", session)
        item = event.get("item", {})
        if event["type"] == "item.completed" and item["type"] == "agent_message":
            text = item["text"]
    return Said(text, session)


def _apply_patch(path: str, old: str, new: str) -> str:
    return call("apply_patch", {"input": patch(path, old, new)})


def _sed(path: str, old: str, new: str) -> str:
    return call("exec_command", {"cmd": f"sed -i 's/{old}/{new}/' {path}"})


class _Cat(Tools):
    """Tools of a client that reads files with its shell."""

    def read(self, path: Path) -> str:
        return self.shell(f"cat {path}")


def _codex_client(title: str, model: str, tools: Tools, **more: Any) -> Client:
    return Client(title, "codex", "codex", _codex(model), _codex_said, tools, files=_codex_files, **more)


# --- Gemini CLI, Qwen Code --------------------------------------------------------------------------------------------


def _gemini(place: Place, message: str, going: Going, session: str) -> list[str]:
    which = {Going.NEW: [], Going.CONTINUED: ["--resume", "latest"], Going.RESUMED: ["--resume", session]}[going]
    return ["gemini", "--skip-trust", "--yolo", "--output-format", "json", *which, "--prompt", message]


def _gemini_files(place: Place) -> dict[str, str]:
    """Its settings, before anybody has chosen how it logs in."""
    return {".gemini/settings.json": json.dumps(_gemini_settings(place))}


def _gemini_key_files(place: Place) -> dict[str, str]:
    """The same with the choice that its dialogue offers."""
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    return {".gemini/settings.json": json.dumps(_gemini_settings(place) | chosen)}


def _gemini_settings(place: Place) -> dict[str, Any]:
    return {
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "mcpServers": {"songs": _google_server(place)},
    }


def _google_server(place: Place) -> dict[str, Any]:
    first, *rest = place.server
    return {"command": first, "args": rest, "trust": True}


def _gemini_said(printed: str) -> Said:
    told = json.loads(printed[printed.index("{") :])
    return Said(told.get("response") or json.dumps(told.get("error")), told["session_id"])


def _gemini_client(title: str, files: Callable[[Place], dict[str, str]]) -> Client:
    tools = Tools(("read_file", "file_path"), ("run_shell_command", "command"), _replace)
    return Client(title, "gemini", "gemini", _gemini, _gemini_said, tools, song="mcp_songs_find_song", files=files)


def _qwen(place: Place, message: str, going: Going, session: str) -> list[str]:
    which = {Going.NEW: [], Going.CONTINUED: ["--continue"], Going.RESUMED: ["--resume", session]}[going]
    return ["qwen", "--yolo", "--output-format", "json", *which, "--prompt", message]


def _qwen_files(place: Place) -> dict[str, str]:
    settings = {
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "mcpServers": {"songs": _google_server(place)},
    }
    return {".qwen/settings.json": json.dumps(settings)}


class _Bridged(Tools):
    """Tools of a client whose tools of MCP servers are called by another one."""

    def find_song(self, name: str, title: str) -> str:
        return call("tool_call", {"name": name, "arguments": {"title": title}})


def _replacing(tool: str, **names: str) -> Callable[[str, str, str], str]:
    """The words for an edit by a tool that replaces a text by another."""

    def edit(path: str, old: str, new: str) -> str:
        values = {"path": path, "old": old, "new": new}
        return call(tool, {named: values[meant] for meant, named in names.items()})

    return edit


def _replace(path: str, old: str, new: str) -> str:
    told = {"instruction": "Change a word.", "file_path": path, "old_string": old, "new_string": new}
    return call("replace", told)


# --- OpenCode, pi -----------------------------------------------------------------------------------------------------


def _opencode(place: Place, message: str, going: Going, session: str) -> list[str]:
    which = {Going.NEW: [], Going.CONTINUED: ["--continue"], Going.RESUMED: ["--session", session]}[going]
    # A message that is an argument it puts into quotation marks, with a backslash before those inside.
    return ["opencode", "run", "--format", "json", *which]


def _opencode_files(place: Place) -> dict[str, str]:
    server = {"type": "local", "command": place.server, "enabled": True}
    settings = {"autoupdate": False, "share": "disabled", "mcp": {"songs": server}, "permission": "allow"}
    return {".config/opencode/opencode.json": json.dumps(settings)}


def _opencode_said(printed: str) -> Said:
    events = list(_events(printed))
    texts = [event["part"]["text"] for event in events if event["type"] == "text"]
    return Said(texts[-1] if texts else "", events[0]["sessionID"] if events else "")


def _pi(place: Place, message: str, going: Going, session: str) -> list[str]:
    which = {Going.NEW: [], Going.CONTINUED: ["--continue"], Going.RESUMED: ["--session", session]}[going]
    return ["pi", "--print", "--mode", "json", "--provider", "legato", "--model", "default", *which, message]


def _pi_files(place: Place) -> dict[str, str]:
    provider = {
        "baseUrl": f"http://127.0.0.1:{place.port}",
        "api": "anthropic-messages",
        "apiKey": "legato",
        "models": [{"id": "default", "reasoning": True}],
    }
    return {".pi/agent/models.json": json.dumps({"providers": {"legato": provider}})}


def _pi_edit(path: str, old: str, new: str) -> str:
    return call("edit", {"path": path, "edits": [{"oldText": old, "newText": new}]})


def _pi_said(printed: str) -> Said:
    session, text = "", ""
    for event in _events(printed):
        if event["type"] == "session":
            session = event["id"]
        message = event.get("message", {})
        if event["type"] == "message_end" and message.get("role") == "assistant":
            text = "".join(part["text"] for part in message["content"] if part["type"] == "text")
    return Said(text, session)


def _events(printed: str) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in printed.splitlines() if line.startswith("{"))


_PATCHING = _Cat(("exec_command", "cmd"), ("exec_command", "cmd"), _apply_patch)
_BY_SHELL = _Cat(("exec_command", "cmd"), ("exec_command", "cmd"), _sed)

CLIENTS: Sequence[Client] = (
    Client(
        "Claude Code",
        "claude",
        "claude",
        _claude,
        _result,
        Tools(
            ("Read", "file_path"),
            ("Bash", "command"),
            _replacing("Edit", path="file_path", old="old_string", new="new_string"),
        ),
        song="mcp__songs__find_song",
        search=call("ToolSearch", {"query": "select:mcp__songs__find_song"}),
        files=_claude_files,
        environment={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
    ),
    _codex_client("Codex", "", CodeMode(), song="mcp__songs__find_song"),
    _codex_client(
        "Codex, gpt-5.5", "gpt-5.5", _PATCHING, song="find_song", search=call("tool_search", {"query": "find a song"})
    ),
    _codex_client("Codex, gpt-5.1-codex", "gpt-5.1-codex", _BY_SHELL, song="find_song"),
    _gemini_client("Gemini CLI", _gemini_key_files),
    _gemini_client("Gemini CLI, as of Vertex", _gemini_files),
    Client(
        "OpenCode",
        "opencode",
        "opencode",
        _opencode,
        _opencode_said,
        Tools(
            ("read", "filePath"),
            ("bash", "command"),
            _replacing("edit", path="filePath", old="oldString", new="newString"),
        ),
        song="songs_find_song",
        files=_opencode_files,
        environment={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"},
        takes_stdin=True,
    ),
    Client(
        "Qwen Code",
        "qwen",
        "qwen",
        _qwen,
        _result,
        _Bridged(
            ("read_file", "file_path"),
            ("run_shell_command", "command"),
            _replacing("edit", path="file_path", old="old_string", new="new_string"),
        ),
        song="mcp__songs__find_song",
        search=call("tool_search", {"query": "select:mcp__songs__find_song"}),
        files=_qwen_files,
        heeds_no_proxy=False,
    ),
    Client(
        "pi",
        "pi",
        "",
        _pi,
        _pi_said,
        Tools(("read", "path"), ("bash", "command"), _pi_edit),
        files=_pi_files,
        environment={"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
    ),
)
