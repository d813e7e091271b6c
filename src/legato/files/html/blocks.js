// The parts of an entry. Long ones are folded: what is folded away is not in the document at all.

const Fold = {
  text: { lines: 28, characters: 4000 },
  thinking: { lines: 4, characters: 500 },
  result: { lines: 10, characters: 1200 },
  code: { lines: 16, characters: 2000 },
};
const PORTION = 30_000; // characters that unfolding adds at a time: a browser lays out that much without a pause
const IMAGES = /^image\/(png|jpeg|gif|webp|avif|bmp)$/i;
const BASE64 = /^[A-Za-z0-9+/\s]+=*\s*$/;
const COLOURS = /\x1b\[[0-9;:]*m/g;

/** What the reader has unfolded: all, or single parts, and how many portions of them. */
const unfolded = {
  all: false,
  parts: new Map(),
  portions(key) {
    return this.parts.get(key) ?? (this.all ? 1 : 0);
  },
  set(key, portions) {
    this.parts.set(key, portions);
  },
  setAll(isOpen) {
    this.all = isOpen;
    this.parts.clear();
  },
};

/** As much of `text` as is to be seen now, and what is said about the rest of it. */
function portionOf(text, key, limit) {
  const portions = unfolded.portions(key);
  if (portions) {
    const end = portions * PORTION;
    return { part: text.slice(0, end), isCut: text.length > end, portions };
  }
  let end = 0;
  for (let line = 0; line < limit.lines && end !== -1; line += 1) end = text.indexOf("\n", end + 1);
  if (end === -1) end = text.length;
  end = Math.min(end, limit.characters);
  // A line or two more are shown rather than a button in their place.
  if (text.length <= limit.characters * 1.2 && lineCount(text) <= limit.lines + 2) end = text.length;
  return { part: text.slice(0, end), isCut: end < text.length, portions };
}

function lineCount(text) {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** `text` through `display`, folded if it is long. */
function folded(text, key, limit, display, changed) {
  const { part, isCut, portions } = portionOf(text, key, limit);
  const shownPart = display(part);
  if (!isCut && !portions) return [shownPart];
  const lines = lineCount(text);
  const size = lines > 2 ? counted(lines, "line") : counted(text.length, "character");
  const more = portions ? `Show more of ${size}` : `Show all ${size}`;
  const isWhole = portions && !isCut && text.length <= limit.characters && lines <= limit.lines;
  return [
    shownPart,
    !isWhole &&
      make(
        "p.fold",
        { "data-key": key },
        isCut && make("button", { type: "button", onclick: () => changed(key, portions + 1) }, more),
        portions > 0 && make("button", { type: "button", onclick: () => changed(key, 0) }, "Show less"),
      ),
  ];
}

const plain = (kind) => (text) => make(`pre.${kind}`, { tabindex: "0" }, text);

// --- what people say ---

const TAGGED =
  /<(command-name|command-message|command-args|local-command-stdout|local-command-stderr|bash-input|bash-stdout|bash-stderr|system-reminder|user-prompt-submit-hook|environment_context|user_instructions|session_context|local-command-caveat)>([^]*?)<\/\1>/g;

/** A text in which a program has marked what is no prose: commands, their output, its own reminders. */
function saidElements(text, key, changed) {
  const parts = [];
  let last = 0;
  let command = null;
  const prose = (part, number) => {
    if (part.trim()) parts.push(...folded(part.trim(), `${key}.${number}`, Fold.text, markdown, changed));
  };
  for (const match of text.matchAll(TAGGED)) {
    prose(text.slice(last, match.index), last);
    last = match.index + match[0].length;
    const [, tag, inner] = match;
    if (!inner.trim()) continue;
    if (tag === "command-name" || tag === "bash-input") {
      const name = tag === "bash-input" ? `! ${inner.trim()}` : inner.trim();
      command = make("p.command", null, make("code", null, name));
      parts.push(command);
    } else if (tag === "command-args" && command) command.append(" ", make("span", null, inner.trim()));
    else if (tag === "command-message") continue;
    else if (tag.includes("std")) parts.push(...folded(bare(inner), `${key}.${match.index}`, Fold.result, plain("result"), changed));
    else parts.push(...folded(inner.trim(), `${key}.${match.index}`, Fold.thinking, plain("reminder"), changed));
  }
  prose(text.slice(last), last);
  return parts;
}

/** The output of a program without the colours of a terminal. */
function bare(text) {
  return text.replace(COLOURS, "");
}

function mediaElement(media, words) {
  if (media.data && IMAGES.test(media.mime) && BASE64.test(media.data)) {
    const image = make("img", { src: `data:${media.mime};base64,${media.data}`, alt: media.name ?? words, decoding: "async" });
    image.addEventListener("error", () => image.replaceWith(make("p.media", null, `${words} cannot be shown`)));
    return make("figure", null, image);
  }
  const address = media.url && SAFE_ADDRESS.test(media.url) ? link(media.url, media.url) : (media.url ?? "");
  return make("p.media", null, words || `[${media.kind}, ${media.mime}]`, " ", media.name ?? "", " ", address);
}

// --- calls ---

/** The command line that a call runs, if it runs one. */
function commandOf(values) {
  const command = values.command ?? values.cmd ?? values.script;
  if (Array.isArray(command)) {
    const words = command.map(String);
    return /^(ba|z)?sh$/.test(words[0]) && /^-l?c$/.test(words[1] ?? "") ? words.slice(2).join(" ") : words.join(" ");
  }
  return typeof command === "string" && !("old_str" in values) && !("file_text" in values) ? command : null;
}

/** The changes that a call makes to a file: pairs of what was and what comes. */
function editsOf(values) {
  const pair = (edit) => {
    const before = edit?.old_string ?? edit?.old_str ?? edit?.oldText;
    const after = edit?.new_string ?? edit?.new_str ?? edit?.newText;
    return typeof before === "string" && typeof after === "string" ? [before, after] : null;
  };
  if (Array.isArray(values.edits)) return values.edits.map(pair).filter(Boolean);
  return [pair(values)].filter(Boolean);
}

/** The patch that a call applies. */
function patchOf(values) {
  const patch = values.patch ?? values.diff ?? values.input;
  return typeof patch === "string" && /^(\*\*\* Begin Patch|--- |diff --git)/m.test(patch) ? patch : null;
}

const TELLING = ["file_path", "path", "filePath", "notebook_path", "pattern", "query", "url", "description", "subject", "name", "prompt"];

/** A few words about what a call is for. */
function summaryOf(values) {
  const command = commandOf(values);
  if (command !== null) return typeof values.description === "string" ? values.description : command.split("\n")[0];
  for (const name of TELLING) if (typeof values[name] === "string" && values[name]) return values[name].split("\n")[0];
  const first = Object.values(values).find((value) => typeof value === "string");
  return first ? first.split("\n")[0] : "";
}

/** What a call does, in the form that suits it: a command, a change, a list of things to do, or its arguments. */
function argumentElements(call, key, changed) {
  const values = call.arguments;
  if (!values) return call.raw ? folded(call.raw, `${key}a`, Fold.code, plain("code"), changed) : [];
  const command = commandOf(values);
  if (command !== null) return folded(command, `${key}a`, Fold.code, plain("shell"), changed);
  const edits = editsOf(values);
  if (edits.length) return edits.flatMap(([before, after], number) => editElements(before, after, `${key}d${number}`, changed));
  const patch = patchOf(values);
  if (patch !== null) return folded(patch, `${key}p`, Fold.code, (part) => differenceElement(patchRuns(part)), changed);
  if (Array.isArray(values.todos) && values.todos.every((todo) => typeof todo?.content === "string")) return [todoElement(values.todos)];
  const body = values.content ?? values.file_text;
  const rest = Object.entries(values).filter(([, value]) => value !== body);
  const isFile = typeof body === "string" && rest.some(([name]) => /path|file/i.test(name));
  // What the head of the call says already is not said again.
  const told = summaryOf(values);
  const listed = (isFile ? rest : Object.entries(values)).filter(([, value]) => value !== told);
  return [
    listed.length > 0 && argumentList(listed, key, changed),
    ...(isFile ? folded(body, `${key}c`, Fold.code, (part) => differenceElement([["+", part.replace(/\n$/, "").split("\n")]]), changed) : []),
  ];
}

function editElements(before, after, key, changed) {
  // Folding a change means showing the beginning of it, so both sides are compared as a whole first.
  const runs = difference(before, after);
  const lines = runs.flatMap(([sign, held]) => held.map((line) => sign + line));
  return folded(lines.join("\n"), key, Fold.code, (part) => {
    const shownRuns = [];
    for (const line of part.split("\n")) run(shownRuns, line[0] ?? " ", [line.slice(1)]);
    return differenceElement(shownRuns);
  }, changed);
}

function todoElement(todos) {
  const boxes = { completed: "☑", in_progress: "◐" };
  return make("ul.todos", null, todos.slice(0, 100).map((todo) => make(`li.${todo.status === "completed" ? "done" : "open"}`, null, boxes[todo.status] ?? "☐", " ", todo.content)));
}

function argumentList(entries, key, changed) {
  return make(
    "dl.arguments",
    null,
    entries.slice(0, 40).flatMap(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
      return [make("dt", null, name), make("dd", null, folded(text, `${key}${name}`, Fold.result, plain("value"), changed))];
    }),
  );
}
