// The page: what the controls and the keys do.

const ABOUT = -1;
const MOST_PRINTED = 400;
const controls = Object.fromEntries(
  ["search", "matches", "tool", "label", "expand", "wire", "more", "filters", "theme", "help", "keys", "facts", "strip", "hint", "prompts", "list", "open-prompts"].map((id) => [id, byId(id)]),
);
let current = -1; // the entry that keys act on
let matches = [];

// --- the list ---

const list = new VirtualList(controls.list, {
  render: (item) => {
    if (item === ABOUT) return aboutElement();
    if (item < ABOUT) return agentElement(ABOUT - item, toggleAgent);
    const element = entryElement(item, (key, portions) => refold(item, key, portions));
    element.setAttribute("aria-posinset", item + 1);
    element.setAttribute("aria-setsize", outline.count);
    if (item === current) element.classList.add("here");
    return element;
  },
  guess: (item) => (item < 0 ? 60 : 64 + Math.min(columns.lines[item], 60) * 20),
  changed: () => {
    const [first, last] = list.inSight().map((place) => Math.max(list.items[place] ?? 0, 0));
    strip.look(first, last, current >= first && current <= last ? current : first);
    markPrompt(promptOf(first));
    highlight(list.rows, search.wanted);
  },
});

const strip = new Strip(controls.strip, controls.hint, {
  jump: (number, options) => jump(number, options),
  isShown: (number) => passes(number),
  describe: (number) => {
    const marks = columns.marks[number];
    const what = marks & Marks.ERROR ? ", damaged" : marks & DAMAGED ? ", put right in the request" : "";
    const at = columns.at[number];
    return `#${number + 1}, ${(SPEAKER_NAMES[speakerOf(number)] ?? "").toLowerCase()}${at === null ? "" : `, ${CLOCK.format(new Date(at * 1000))}`}${what}`;
  },
});

const search = new Search((found, isDone) => {
  matches = found;
  strip.matches = new Set(found);
  strip.draw();
  tellMatches(isDone);
});

let chosen = { tool: null, label: null };

/** Whether the controls let an entry through. */
function passes(number) {
  const marks = columns.marks[number];
  const speaker = speakerOf(number);
  if (chosen.tool && !chosen.tool.has(number)) return false;
  if (chosen.label && !chosen.label.has(number)) return false;
  if (speaker !== "model") return view.human;
  return (view.model && (marks & Marks.SAYS) !== 0) || (view.calls && (marks & Marks.CALLS) !== 0) || (view.thinking && (marks & Marks.THINKS) !== 0) || (view.model && !(marks & (Marks.SAYS | Marks.CALLS | Marks.THINKS)));
}

/** Decide anew what is in the list. */
function filter() {
  const items = [];
  const isNarrow = chosen.tool || chosen.label;
  if (!isNarrow) items.push(ABOUT);
  let agent = 0;
  for (let number = 0; number < outline.count; number += 1) {
    if (columns.agent[number] !== agent) {
      agent = columns.agent[number];
      if (agent && !isNarrow) items.push(ABOUT - agent);
    }
    if (agent && !isNarrow && !view.openAgents.has(agent)) continue;
    if (passes(number)) items.push(number);
  }
  list.setItems(items);
  list.refresh();
  strip.draw();
}

function toggleAgent(agent) {
  if (!view.openAgents.delete(agent)) view.openAgents.add(agent);
  filter();
}

function refold(item, key, portions) {
  unfolded.set(key, portions);
  list.refresh(item);
  const element = list.shown.get(item);
  element?.querySelector(`.fold[data-key="${CSS.escape(key)}"] button`)?.focus({ preventScroll: true });
  // What was folded from its far end would leave the reader somewhere behind it.
  if (!portions && element && element.getBoundingClientRect().top < list.scroller.getBoundingClientRect().top) list.show(item);
}

// --- where the reader is ---

/** Go to an entry: the filter lets it through if it has to, and it is what keys act on from now on. */
function jump(number, { keepFocus = false } = {}) {
  if (number < 0 || number >= outline.count) return;
  const agent = columns.agent[number];
  if (agent && !view.openAgents.has(agent)) {
    view.openAgents.add(agent);
    filter();
  }
  if (!list.place.has(number)) clearFilters();
  const before = list.shown.get(current);
  if (before) before.classList.remove("here");
  current = number;
  const element = list.show(number);
  if (element) {
    element.classList.add("here");
    if (!keepFocus) element.focus({ preventScroll: true });
  }
  closePrompts();
  strip.look(...strip.window, number);
}

/** The next entry in the list, from the one that keys act on, for which `isWanted`. */
function walk(step, isWanted = () => true) {
  let place = list.place.get(current);
  if (place === undefined) place = list.inSight()[0] - (step > 0 ? 1 : 0);
  for (place += step; place >= 0 && place < list.items.length; place += step) {
    const item = list.items[place];
    if (item >= 0 && isWanted(item)) return jump(item);
  }
}

function walkDamage(step) {
  const from = current >= 0 ? current : step > 0 ? -1 : outline.count;
  for (let number = from + step; number >= 0 && number < outline.count; number += step) {
    if (columns.marks[number] & DAMAGED) return jump(number);
  }
}

function walkMatches(step) {
  if (!matches.length) return;
  const place = step > 0 ? matches.findIndex((number) => number > current) : matches.findLastIndex((number) => number < current);
  const number = matches.at(place < 0 ? (step > 0 ? 0 : -1) : place);
  openForMatch(number);
  jump(number, { keepFocus: true });
  tellMatches(true);
}

/** Unfold what hides a match. */
function openForMatch(number) {
  const entry = entryAt(number);
  const isHidden = (text) => (text ?? "").toLowerCase().includes(search.wanted);
  (entry?.blocks ?? []).forEach((block, place) => {
    const key = `${number}:${place}:`;
    if (isHidden(block.text)) unfolded.set(key, 1);
    if (block.call && isHidden(block.call.result)) unfolded.set(`${key}r`, 1);
  });
  list.refresh(number);
}

function tellMatches(isDone) {
  const place = matches.indexOf(current);
  const count = `${NUMBER.format(matches.length)}${isDone ? "" : "…"}`;
  controls.matches.value = search.wanted ? (place >= 0 ? `${NUMBER.format(place + 1)} of ${count}` : count) : "";
}

function markPrompt(item) {
  if (item === prompts.current) return;
  prompts.shown.get(prompts.current)?.removeAttribute("aria-current");
  prompts.current = item;
  prompts.shown.get(item)?.setAttribute("aria-current", "true");
  const place = item;
  const scroller = prompts.scroller;
  const top = prompts.tops[Math.max(place, 0)];
  if (top < scroller.scrollTop || top > scroller.scrollTop + scroller.clientHeight - PROMPT_HEIGHT * 2) scroller.scrollTop = Math.max(top - scroller.clientHeight / 3, 0);
}

/** `#entry-7` is an entry, `#turn-7` what a person said. */
function followHash() {
  const found = location.hash.match(/^#(entry|turn)-(\d{1,9})$/);
  if (!found) return false;
  const number = found[1] === "entry" ? Number(found[2]) - 1 : outline.prompts[Number(found[2]) - 1]?.[0];
  if (number === undefined || number >= outline.count) return false;
  jump(number);
  return true;
}

// --- controls ---

function clearFilters() {
  for (const name of ["human", "model", "calls", "thinking"]) byId(`show-${name}`).checked = view[name] = true;
  controls.tool.value = controls.label.value = "";
  chosen = { tool: null, label: null };
  filter();
}

function expandAll(isOpen) {
  unfolded.setAll(isOpen);
  controls.expand.setAttribute("aria-pressed", String(isOpen));
  controls.expand.textContent = isOpen ? "Collapse all" : "Expand all";
  if (isOpen) outline.agents.forEach((_, place) => view.openAgents.add(place + 1));
  else view.openAgents.clear();
  list.forget();
  filter();
}

function expandCurrent() {
  const entry = current >= 0 ? entryAt(current) : null;
  if (!entry) return;
  const keys = [];
  (entry.blocks ?? []).forEach((block, place) => {
    const key = `${current}:${place}:`;
    keys.push(key, `${key}a`, `${key}c`, `${key}p`, `${key}r`, ...Object.keys(block.call?.arguments ?? {}).map((name) => key + name));
    editsOf(block.call?.arguments ?? {}).forEach((_, number) => keys.push(`${key}d${number}`));
  });
  const isOpen = keys.some((key) => unfolded.parts.get(key));
  for (const key of keys) unfolded.set(key, isOpen ? 0 : 1);
  list.refresh(current);
  jump(current);
}

function showWire(isShown) {
  view.wire = isShown;
  controls.wire.setAttribute("aria-pressed", String(isShown));
  document.body.classList.toggle("with-wire", isShown);
  list.forget();
  list.setItems(list.items);
  list.refresh();
}

function closePrompts() {
  controls.prompts.classList.remove("open");
  controls["open-prompts"].setAttribute("aria-expanded", "false");
}

function fillControls() {
  for (const [name, entries] of Object.entries(outline.tools)) controls.tool.append(make("option", { value: name }, `${name} (${entries.length})`));
  const damaged = columns.marks.flatMap((marks, number) => (marks & DAMAGED ? [number] : []));
  if (damaged.length) controls.label.append(make("option", { value: "*" }, `anything damaged (${damaged.length})`));
  for (const [name, entries] of Object.entries(outline.labels)) controls.label.append(make("option", { value: name }, `${name} (${entries.length})`));
  controls.tool.hidden = !Object.keys(outline.tools).length;
  controls.label.hidden = controls.label.options.length < 2;
  controls.wire.hidden = !outline.wire;
  if (outline.wire) controls.wire.title = `What is sent to ${outline.wire.route}`;
  controls.tool.addEventListener("change", () => {
    chosen.tool = controls.tool.value ? new Set(outline.tools[controls.tool.value]) : null;
    filter();
  });
  controls.label.addEventListener("change", () => {
    const { value } = controls.label;
    chosen.label = value ? new Set(value === "*" ? damaged : outline.labels[value]) : null;
    filter();
  });
  for (const name of ["human", "model", "calls", "thinking"]) {
    byId(`show-${name}`).addEventListener("change", (event) => {
      view[name] = event.target.checked;
      filter();
    });
  }
  return damaged;
}

function fillFacts(damaged) {
  const [first, last] = outline.times;
  const calls = Object.values(outline.states).reduce((sum, count) => sum + count, 0);
  const { usage } = outline;
  const cached = usage?.cache_read ? ` (${Math.round((100 * usage.cache_read) / usage.input)}% cached)` : "";
  const cost = outline.cost === null ? null : `${outline.unpriced ? "at least " : ""}${dollars(outline.cost)}`;
  const errors = (outline.levels.error ?? 0) + outline.findings.filter((finding) => finding.level === "error").length;
  const facts = [
    damaged.length || errors ? make(`button.badge.${errors ? "error" : "risk"}`, { type: "button", onclick: () => walkDamage(1), title: "Go to the next one (n)" }, errors ? counted(errors, "error") : `${damaged.length} put right`) : make("span.badge.fine", null, "nothing broken"),
    outline.format,
    outline.models.join(", ") || outline.route,
    first !== null && [moment(first), last > first && [" · ", duration(last - first)]],
    counted(outline.turns, "turn"),
    calls > 0 && counted(calls, "call"),
    usage && make("span", { title: `${NUMBER.format(usage.input ?? 0)} tokens in, ${NUMBER.format(usage.output ?? 0)} out` }, `${brief(usage.input ?? 0)} tokens in${cached}, ${brief(usage.output ?? 0)} out`),
    cost && make("span", { title: outline.unpriced ? `${outline.unpriced} answers have no known price` : "at the prices of the catalogue" }, cost),
  ];
  for (const fact of facts) if (fact) controls.facts.append(make("span.fact", null, fact));
}

// --- keys ---

const KEYS = {
  j: () => walk(1),
  k: () => walk(-1),
  n: () => walkDamage(1),
  p: () => walkDamage(-1),
  "]": () => walk(1, (number) => speakerOf(number) === "human" && !columns.agent[number]),
  "[": () => walk(-1, (number) => speakerOf(number) === "human" && !columns.agent[number]),
  g: () => {
    list.scrollTo(0);
    current = -1;
    list.update();
  },
  G: () => jump(list.items.findLast((item) => item >= 0) ?? -1),
  e: () => expandCurrent(),
  E: () => expandAll(!unfolded.all),
  w: () => outline.wire && showWire(!view.wire),
  f: () => {
    openFilters(true);
    controls.label.focus();
  },
  t: () => changeTheme(),
  "/": () => controls.search.select(),
  "?": () => controls.keys.showModal(),
};

function openFilters(isOpen) {
  controls.filters.classList.toggle("open", isOpen);
  controls.more.setAttribute("aria-expanded", String(isOpen));
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || controls.keys.open) return;
  if (event.key === "Escape") {
    if (controls.search.value) {
      controls.search.value = "";
      search.find("");
    }
    clearFilters();
    closePrompts();
    list.shown.get(current)?.focus({ preventScroll: true });
    return;
  }
  if (event.target.closest("input:not([type=checkbox]), select, textarea")) return;
  const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
  if (!act) return;
  event.preventDefault();
  act();
});

let typing = 0;
controls.search.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    search.find(controls.search.value);
    list.schedule();
  }, 150);
});
controls.search.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  clearTimeout(typing);
  if (search.wanted === controls.search.value.toLowerCase()) walkMatches(event.shiftKey ? -1 : 1);
  else search.find(controls.search.value).then(() => walkMatches(1));
});
byId("tools").addEventListener("submit", (event) => event.preventDefault());
controls.expand.addEventListener("click", () => expandAll(!unfolded.all));
controls.wire.addEventListener("click", () => showWire(!view.wire));
controls.help.addEventListener("click", () => controls.keys.showModal());
controls.more.addEventListener("click", () => openFilters(!controls.filters.classList.contains("open")));
controls["open-prompts"].addEventListener("click", () => {
  const isOpen = controls.prompts.classList.toggle("open");
  controls["open-prompts"].setAttribute("aria-expanded", String(isOpen));
  prompts.update();
});
window.addEventListener("hashchange", followHash);

// --- on paper ---

window.addEventListener("beforeprint", () => {
  const place = list.inSight()[0];
  const items = list.items.slice(list.items.length > MOST_PRINTED ? place : 0).slice(0, MOST_PRINTED);
  list.isPrinting = true;
  list.keep(items);
  list.rows.style.transform = "none";
  list.holder.style.height = "auto";
  if (items.length < list.items.length) {
    list.rows.append(make("p.printed", null, `${NUMBER.format(items.length)} of ${NUMBER.format(list.items.length)} entries are printed, from where the page was open. Filter to print others.`));
  }
});
window.addEventListener("afterprint", () => {
  list.rows.querySelector(".printed")?.remove();
  list.isPrinting = false;
  list.measureTops();
  list.update();
});

// --- the beginning ---

const changeTheme = themes(controls.theme);
const prompts = promptList(controls.prompts, (number) => jump(number));
if (outline.title) byId("title").textContent = shown(promptWords(outline.title) || outline.title).replaceAll("`", "");
fillFacts(fillControls());
if (outline.prompts.length < 2) document.body.classList.add("one-prompt");
if (outline.asked && outline.wire && innerWidth >= 1100) showWire(true);
filter();
if (!followHash()) controls.list.focus({ preventScroll: true });
document.documentElement.dataset.ready = "yes";
performance.mark("ready");

// The browser reads on: what was waiting for its chunk is shown when that is there.
if (document.readyState === "loading") {
  const refill = () => {
    for (const [item, element] of [...list.shown]) if (element.classList.contains("waiting")) list.refresh(item);
  };
  const observer = new MutationObserver(refill);
  observer.observe(document.body, { childList: true });
  document.addEventListener("DOMContentLoaded", () => {
    observer.disconnect();
    refill();
    document.documentElement.dataset.ready = "all";
    performance.mark("all");
  });
}
