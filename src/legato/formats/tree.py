"""Which records of a session that is a tree are the conversation as it is: Claude Code's and Qwen Code's are.

In:  nodes in file order, each with its own id and its parent's.
Out: the nodes of the live branch in order; those that were left behind; the side chains of subagents.

A session is a tree: going back and asking again starts a new branch. The live branch ends at a leaf, a node without
children: the one that the file itself names (`leafUuid` of a `last-prompt` record) if nothing was said after that, else
the last leaf in the file. The last line need not be a leaf, because a child may be written before its parent.

Three things are off the direct path from the leaf to the root and belong to it all the same: results of parallel calls,
which are children of their own call's line; further lines of an answer; and what precedes a compaction, whose boundary
has only a logical parent. A line with calls that nothing answers does not belong to it where a person spoke next behind
the line before: Claude Code that was killed in a tool goes on there, and leaves the call behind.

Children of a lost record continue what precedes them in the file, and so does an answer or result without a parent,
because no conversation starts with one. Of records with the same id, the one that says something and has a known parent
counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from msgspec import Struct

from legato.formats.draft import DocumentDraft
from legato.model import Block, ToolCall, ToolResponse


class Node(Struct, gc=False):
    """One record, as far as the tree is concerned."""

    index: int
    uuid: str
    parent: str
    is_root: bool
    """it says itself that it has no parent"""
    is_sidechain: bool
    agent: str = ""
    logical_parent: str = ""
    continues: bool = False
    """a compaction boundary or summary: what comes before it goes on"""
    answer: str = ""
    """the id of the answer that it is a line of"""
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    is_said: bool = False
    """whether it holds anything of the conversation"""
    is_reply: bool = False
    """an answer or results, which always follow something"""
    names_leaf: str = ""
    """the id of the record that was the last one when this was written"""

    def hold(self, blocks: Iterable[Block]) -> None:
        """These are its blocks: what is called in them, and what has a result."""
        calls: list[str] = []
        results: list[str] = []
        for block in blocks:
            if isinstance(block, ToolCall):
                calls.append(block.wire_id)
            elif isinstance(block, ToolResponse):
                results.append(block.wire_id)
        self.calls, self.results = tuple(filter(None, calls)), tuple(filter(None, results))


@dataclass(slots=True)
class Branches:
    """The nodes by what became of them."""

    live: list[Node] = field(default_factory=list[Node])
    abandoned: list[Node] = field(default_factory=list[Node])
    sidechains: list[list[Node]] = field(default_factory=list[list[Node]])
    repeated: list[Node] = field(default_factory=list[Node])
    adrift: list[Node] = field(default_factory=list[Node])
    """nodes whose parents are not in the file"""
    is_tree: bool = False


def find_branches(nodes: Sequence[Node]) -> Branches:
    """Sort `nodes` into the live branch and the rest."""
    branches = Branches()
    side = [node for node in nodes if node.is_sidechain]
    if side and any(node.is_said and not node.is_sidechain for node in nodes):
        groups: dict[str, list[Node]] = {}
        by_uuid = {node.uuid: node for node in side if node.uuid}
        for node in side:
            groups.setdefault(_chain_name(node, by_uuid), []).append(node)
        branches.sidechains = [group for group in groups.values() if any(node.is_said for node in group)]
        nodes = [node for node in nodes if not node.is_sidechain]
    _follow(nodes, branches)
    return branches


def note_branches(draft: DocumentDraft, branches: Branches, place: Callable[[Node], str]) -> None:
    """Say in `draft` what the live branch leaves out."""
    beside = [node for chain in branches.sidechains for node in chain if node.is_said]
    for nodes, what, is_carried in (
        (branches.abandoned, "messages are on branches that were left behind and are not carried", False),
        (beside, "messages belong to side chains of subagents, which are conversations of their own", False),
        (branches.repeated, "messages stand in the file twice; the better one of each counts", False),
        (branches.adrift, "records name parents that are not in the file; they continue what stands before them", True),
    ):
        if nodes:
            draft.note(place(nodes[0]), f"{len(nodes)} {what}, here first", is_carried=is_carried)


def _chain_name(node: Node, by_uuid: dict[str, Node]) -> str:
    if node.agent:
        return f"agent {node.agent}"
    seen: set[str] = set()
    while node.parent in by_uuid and node.uuid not in seen:
        seen.add(node.uuid)
        node = by_uuid[node.parent]
    return f"root {node.uuid}"


def _follow(nodes: Sequence[Node], branches: Branches) -> None:
    by_uuid = _by_uuid(nodes)
    unique = [node for node in nodes if not node.uuid or by_uuid[node.uuid] is node]
    if len(unique) < len(nodes):
        branches.repeated = [node for node in nodes if node.is_said and node.uuid and by_uuid[node.uuid] is not node]
    branches.is_tree = any(node.parent in by_uuid for node in unique if node.parent)
    parents = _parents(unique, by_uuid, branches)
    leaf = _find_leaf(unique, by_uuid, parents)
    chain = list(_upwards(leaf, parents)) if leaf is not None else []
    chain.reverse()
    on_chain = {node.index for node in chain}
    beside = _beside(unique, chain, on_chain, parents)
    branches.live = _merged(chain, beside, parents)
    live = on_chain | {node.index for node in beside}
    branches.abandoned = [node for node in unique if node.is_said and node.index not in live]


def _by_uuid(nodes: Sequence[Node]) -> dict[str, Node]:
    """The node of each id; of several the best, and of equally good ones the first."""
    known: set[str] = set()

    def worth(node: Node) -> tuple[bool, bool]:
        if not known:  # few files repeat an id
            known.update(node.uuid for node in nodes)
        return node.is_said, node.is_root or node.parent in known

    best: dict[str, Node] = {}
    for node in nodes:
        if node.uuid and (node.uuid not in best or worth(node) > worth(best[node.uuid])):
            best[node.uuid] = node
    return best


def _upwards(node: Node, parents: dict[int, Node]) -> Iterator[Node]:
    """The node, its parent, the parent of that, up to a root; a circle is walked once."""
    seen: set[int] = set()
    at: Node | None = node
    while at is not None and at.index not in seen:
        seen.add(at.index)
        yield at
        at = parents.get(at.index)


def _is_below(node: Node, other: Node, parents: dict[int, Node]) -> bool:
    return any(above is other for above in _upwards(node, parents))


def _find_leaf(nodes: list[Node], by_uuid: dict[str, Node], parents: dict[int, Node]) -> Node | None:
    """The last node of the live branch."""
    said = [node for node in nodes if node.is_said]
    if not said:
        return None
    inner: set[int] = set()
    for node in said:
        above = parents.get(node.index)
        while above is not None and above is not node and above.index not in inner:
            inner.add(above.index)
            above = parents.get(above.index)
    leaves = [node for node in said if node.index not in inner] or said
    named = next((node for node in reversed(nodes) if node.names_leaf in by_uuid), None)
    if named is None or said[-1].index > named.index:
        return leaves[-1]
    leaf = by_uuid[named.names_leaf]
    if leaf.index in inner:  # more was said behind it, and written before the record that names it
        return next((node for node in reversed(leaves) if _is_below(node, leaf, parents)), leaves[-1])
    return next((node for node in _upwards(leaf, parents) if node.is_said), leaves[-1])


def _parents(nodes: list[Node], by_uuid: dict[str, Node], branches: Branches) -> dict[int, Node]:
    """The parent of each node by its index; roots have none."""
    parents: dict[int, Node] = {}
    before: Node | None = None
    for node in nodes:
        parent = by_uuid.get(node.parent) if node.parent else None
        if parent is None and node.logical_parent:
            parent = by_uuid.get(node.logical_parent)
        if parent is None and before is not None:
            if not branches.is_tree or node.continues:
                parent = before
            elif not node.is_root or node.is_reply:
                parent = before
                if node.parent:
                    branches.adrift.append(node)
        if parent is not None and parent is not node:
            parents[node.index] = parent
        before = node
    return parents


def _beside(nodes: list[Node], chain: list[Node], on_chain: set[int], parents: dict[int, Node]) -> list[Node]:
    """Nodes that hang on the chain and belong to it: further lines of its answers, and results of its calls."""
    answers = {node.answer for node in chain if node.answer}
    answered = {call for node in chain for call in node.results}
    waiting = {call for node in chain for call in node.calls} - answered
    told = {call for node in nodes for call in node.results}
    live = set(on_chain)
    beside: list[Node] = []
    for node in nodes:
        parent = parents.get(node.index)
        if node.index in live or parent is None or parent.index not in live:
            continue
        if node.calls and told.isdisjoint(node.calls) and _went_on(parent, chain, parents):
            continue
        if (node.answer and node.answer in answers) or any(call in waiting for call in node.results):
            live.add(node.index)
            beside.append(node)
            waiting.update(node.calls)
    return beside


def _went_on(parent: Node, chain: list[Node], parents: dict[int, Node]) -> bool:
    """Whether a person spoke next behind `parent`, or behind results there: with nothing lost in between."""
    behind = next((place for place, node in enumerate(chain) if node is parent), len(chain)) + 1
    for node in chain[behind:]:
        if node.parent != parents[node.index].uuid or node.answer not in ("", parent.answer):
            return False
        if node.is_said and not node.is_reply:
            return True
    return False


def _merged(chain: list[Node], beside: list[Node], parents: dict[int, Node]) -> list[Node]:
    """Chain and what hangs on it in one order: that of the file, wherever the chain itself follows it."""
    if not beside:
        return chain
    if all(one.index < other.index for one, other in pairwise(chain)):
        return sorted([*chain, *beside], key=lambda node: node.index)
    children: dict[int, list[Node]] = {}
    for node in beside:
        children.setdefault(parents[node.index].index, []).append(node)
    merged: list[Node] = []
    waiting = list(reversed(chain))
    while waiting:
        node = waiting.pop()
        merged.append(node)
        waiting.extend(reversed(children.get(node.index, [])))
    return merged
