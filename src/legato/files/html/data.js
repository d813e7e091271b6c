// The conversation as it is in the page: the outline at once, entries in chunks that are parsed when they are wanted.

const outline = JSON.parse(byId("outline").textContent);
const columns = outline.columns;

/** What is remarkable about an entry, in `columns.marks`; Python writes the same bits. */
const Marks = { ERROR: 1, RISK: 2, MADE: 4, MOVED: 8, LEFT_OUT: 16, THINKS: 32, FAILED: 64, SAYS: 128, CALLS: 256 };
const DAMAGED = Marks.ERROR | Marks.RISK | Marks.MADE | Marks.MOVED;

const KEPT_CHUNKS = 12;
const parsed = new Map();

/** The number of the chunk that an entry is in. */
function chunkOf(number) {
  let low = 0;
  let high = outline.chunks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (outline.chunks[middle] <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The JSON of a chunk; null while the browser still reads the page. */
function chunkText(chunk) {
  return byId(`chunk-${chunk}`)?.textContent ?? null;
}

/** The entries of a chunk; null while the browser still reads the page. */
function chunkEntries(chunk) {
  const known = parsed.get(chunk);
  if (known) {
    parsed.delete(chunk);
    parsed.set(chunk, known);
    return known;
  }
  const text = chunkText(chunk);
  // The last chunk that is there may still grow.
  if (text === null || (document.readyState === "loading" && !byId(`chunk-${chunk}`).nextSibling)) return null;
  const entries = JSON.parse(text);
  parsed.set(chunk, entries);
  if (parsed.size > KEPT_CHUNKS) parsed.delete(parsed.keys().next().value);
  return entries;
}

/** One entry; null while the browser still reads the page. */
function entryAt(number) {
  const chunk = chunkOf(number);
  return chunkEntries(chunk)?.[number - outline.chunks[chunk]] ?? null;
}

/** Everything in an entry that can be searched. */
function* textsOf(entry) {
  for (const block of entry.blocks ?? []) {
    if (block.text) yield block.text;
    const call = block.call;
    if (!call) continue;
    yield call.name;
    for (const part of [call.id, call.wireId, call.sentId, call.raw, call.result]) if (part) yield part;
    if (call.arguments) yield* strings(call.arguments);
    yield* call.decisions ?? [];
  }
  yield* entry.decisions ?? [];
  for (const finding of entry.findings ?? []) yield `${finding.message} ${finding.rule}`;
}

function* strings(value) {
  if (typeof value === "string") yield value;
  else if (value && typeof value === "object") for (const item of Object.values(value)) yield* strings(item);
  else yield String(value);
}

/** A message of the request, with what it shares with the entry put in again. */
function sent(message, entry) {
  const resolve = (value) => {
    if (Array.isArray(value)) return value.map(resolve);
    if (!value || typeof value !== "object") return value;
    if ("$x" in value) {
      if (value.$x === 0) return Object.fromEntries(Object.entries(value.v).map(([name, item]) => [name, resolve(item)]));
      const block = entry.blocks[value.$x[0]];
      const field = value.$x[1];
      if (field === "data") return block.media.data;
      return field === "text" ? block.text : (block.call[field] ?? block.call.raw ?? "");
    }
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolve(item)]));
  };
  return resolve(message);
}
