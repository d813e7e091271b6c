// One entry of the conversation, and what stands above all of them.

const SPEAKER_NAMES = { human: "Person", model: "Model", instruction: "Instruction", summary: "Summary", "result without a call": "Result without a call" };

/** What the reader wants to see of an entry; the page's controls change it. */
const view = { human: true, model: true, calls: true, thinking: true, wire: false, openAgents: new Set() };

function speakerOf(number) {
  return outline.speakers[columns.speaker[number]];
}

/** The element of an entry. `changed(key, portions)` is told when the reader folds or unfolds a part of it. */
function entryElement(number, changed) {
  const entry = entryAt(number);
  const speaker = speakerOf(number);
  const marks = columns.marks[number];
  const classes = [speaker.split(" ")[0]];
  if (marks & Marks.ERROR) classes.push("error");
  else if (marks & DAMAGED) classes.push("risk");
  if (columns.agent[number]) classes.push("of-agent");
  const article = make(`article.${classes.join(".")}`, { id: `entry-${number + 1}`, tabindex: "-1", "aria-labelledby": `head-${number + 1}` });
  if (!entry) {
    article.classList.add("waiting");
    article.append(headElement(number, speaker, {}), make("p.quiet", null, "…"));
    return article;
  }
  const said = make("div.said", null, headElement(number, speaker, entry), remarkElements(entry));
  (entry.blocks ?? []).forEach((block, place) => add(said, [blockElements(block, `${number}:${place}:`, speaker, changed)]));
  if (entry.out) said.append(make("p.remark", null, "No request holds this entry."));
  article.append(said);
  if (view.wire && outline.wire && !columns.agent[number]) article.append(wireElement(entry, number));
  return article;
}

function headElement(number, speaker, entry) {
  const at = columns.at[number];
  const before = number && columns.agent[number] === columns.agent[number - 1] ? columns.at[number - 1] : null;
  const isNewDay = at !== null && (before === null || new Date(at * 1000).toDateString() !== new Date(before * 1000).toDateString());
  const agent = columns.agent[number];
  const usage = entry.usage;
  const tokens = usage && `${brief(usage.input ?? 0)} in, ${brief(usage.output ?? 0)} out`;
  const cached = usage?.cache_read ? `; ${brief(usage.cache_read)} of the input from the cache` : "";
  return make(
    "header",
    null,
    make("h2", { id: `head-${number + 1}` }, agent && speaker === "human" ? "Task" : (SPEAKER_NAMES[speaker] ?? speaker), agent > 0 && make("span.agent", null, ` subagent ${outline.agents[agent - 1].name}`)),
    make("a.number", { href: `#entry-${number + 1}`, title: "A link to this entry" }, `#${number + 1}`),
    at !== null && make("span.at", null, isNewDay && [moment(at, DAY), " "], moment(at, CLOCK)),
    entry.model && make("span.model", null, entry.model),
    tokens && make("span.tokens", { title: `tokens${cached}` }, tokens),
    typeof entry.cost === "number" && make("span.cost", null, dollars(entry.cost)),
    entry.place && make("span.place", null, entry.place),
  );
}

/** What was found about an entry, and what was decided about it as a whole. */
function remarkElements(entry) {
  const findings = entry.findings ?? [];
  const decisions = entry.decisions ?? [];
  if (!findings.length && !decisions.length) return [];
  const level = findings.some((finding) => finding.level === "error") ? "error" : "risk";
  return [
    make(
      `ul.remarks.${level}`,
      null,
      findings.slice(0, 20).map((finding) =>
        make("li", null, make(`strong.${finding.level}`, null, finding.level), " ", finding.place.startsWith("line ") && finding.place !== entry.place && `${finding.place} `, finding.message, " ", make("code", null, finding.rule), finding.repair && make("span.repair", null, finding.repair)),
      ),
      decisions.slice(0, 20).map((decision) => make("li", null, make("strong.risky", null, "decided"), " ", decision)),
    ),
  ];
}

function blockElements(block, key, speaker, changed) {
  if (block.kind === "call") return view.calls ? [callElement(block.call, key, changed)] : [];
  if (block.kind === "thinking") {
    if (!view.thinking) return [];
    return [make("div.thinking", null, make("h3", null, "Thinking"), folded(block.text, key, Fold.thinking, markdown, changed))];
  }
  if (speaker === "model" && !view.model) return [];
  if (block.kind === "media") return [mediaElement(block.media, block.text)];
  if (block.kind === "code") return folded(block.text, key, Fold.code, plain("code"), changed);
  if (block.kind === "hosted") return [make("div.hosted", null, make("h3", null, "Run by the provider"), folded(block.text, key, Fold.result, plain("value"), changed))];
  return speaker === "model" ? folded(block.text, key, Fold.text, markdown, changed) : saidElements(block.text, key, changed);
}

function callElement(call, key, changed) {
  const isMade = call.completion === "synthetic";
  const isMoved = (call.decisions ?? []).some((decision) => / moved /.test(` ${decision}`));
  const state = isMade ? "made" : call.completion === "success" ? "done" : call.completion === "error" ? "failed" : "none";
  const words = { made: "no result in the file", done: "", failed: "failed", none: call.completion }[state];
  const summary = call.arguments ? summaryOf(call.arguments) : "";
  const element = make(
    `section.call.${state}${isMoved ? ".moved" : ""}`,
    { "aria-label": `Call of ${call.name || "an unknown tool"}` },
    make(
      "header",
      null,
      make("h3", null, call.name || "unknown tool"),
      make("span.summary", { title: summary }, summary.slice(0, 300)),
      words && make(`span.tag.${state}`, null, words),
      isMoved && make("span.tag.moved", null, "result moved"),
      typeof call.took === "number" && make("span.took", null, duration(call.took)),
    ),
    argumentElements(call, key, changed),
  );
  if (call.result) {
    const output = make(`div.output${isMade ? ".made" : ""}`, null, folded(bare(call.result), `${key}r`, Fold.result, plain("result"), changed));
    element.append(output);
  }
  for (const media of call.media ?? []) element.append(mediaElement(media, `[${media.kind}, ${media.mime}]`));
  const isOpen = isMade || isMoved || unfolded.all;
  element.append(identityElement(call, isOpen));
  return element;
}

/** Who a call is: in the log, in the file and for the target; how it ended, and what was decided about it. */
function identityElement(call, isOpen) {
  const facts = [
    ["canonical id", call.id],
    ["in the file", call.wireId || "none"],
    [outline.wire ? `for ${outline.wire.route.split("/")[0]}` : "for the target", call.sentId],
    ["state", `${call.state}, ${call.completion}${call.reason ? ` (${call.reason})` : ""}`],
    ["result stood at", call.resultPlace],
  ];
  const decisions = call.decisions ?? [];
  return make(
    "details.identity",
    { open: isOpen },
    make("summary", null, make("span", null, call.wireId || call.id), decisions.length > 0 && make("span.count", null, counted(decisions.length, "decision"))),
    make("dl", null, facts.filter(([, value]) => value).flatMap(([name, value]) => [make("dt", null, name), make("dd", null, value)])),
    decisions.length > 0 && make("ul.decisions", null, decisions.slice(0, 20).map((decision) => make("li", null, decision))),
  );
}

/** What is sent of an entry. */
function wireElement(entry, number) {
  const messages = entry.wire ?? [];
  const changed = (key, portions) => refold(number, key, portions);
  const parts = messages.flatMap((message, place) => {
    const text = JSON.stringify(sent(message, entry), (name, value) => (typeof value === "string" && value.length > 3000 && /^[\w+/=]+$/.test(value.slice(0, 500)) ? `${value.slice(0, 80)}… (${brief(value.length)} characters)` : value), 2);
    return folded(text, `${number}:w${place}`, { lines: 40, characters: 3000 }, plain("json"), changed);
  });
  if (number === lastOfAll && outline.wire.tail.length) parts.push(make("h3", null, "put at the end"), make("pre.json", null, JSON.stringify(outline.wire.tail, null, 2)));
  return make("aside.wire", { "aria-label": `Request, entry ${number + 1}` }, make("h3", null, outline.wire.route), parts.length ? parts : make("p.quiet", null, "nothing is sent of it"));
}

const lastOfAll = (() => {
  let last = outline.count - 1;
  while (last > 0 && columns.agent[last]) last -= 1;
  return last;
})();

/** The line above the entries of a subagent, which opens and closes them. */
function agentElement(agent, toggled) {
  const { name, first } = outline.agents[agent - 1];
  let count = 0;
  let damaged = 0;
  while (first + count < outline.count && columns.agent[first + count] === agent) {
    if (columns.marks[first + count] & DAMAGED) damaged += 1;
    count += 1;
  }
  const isOpen = view.openAgents.has(agent);
  return make(
    `article.subagent${damaged ? ".risk" : ""}`,
    { tabindex: "-1", "aria-label": `Subagent ${name}` },
    make("button", { type: "button", "aria-expanded": String(isOpen), onclick: () => toggled(agent) }, `Subagent ${name}`),
    make("span", null, counted(count, "entry").replace("entrys", "entries"), damaged > 0 && `, ${damaged} damaged`),
  );
}

// --- above the entries ---

/** What is known about the file as a whole. */
function aboutElement() {
  const changed = (key, portions) => refold(-1, key, portions);
  const card = make("article.about", { id: "about", tabindex: "-1", "aria-label": "About this file" });
  const meta = outline.meta;
  const facts = [
    ["file", outline.name],
    ["session", meta.session],
    ["folder", meta.cwd],
    ["branch", meta.branch],
    ["version", meta.version],
  ];
  card.append(make("details", null, make("summary", null, "About this file"), make("dl.facts", null, facts.filter(([, value]) => value).flatMap(([name, value]) => [make("dt", null, name), make("dd", null, value)]))));
  const lists = [
    ["Found in the file as a whole", outline.findings.map((finding) => `${finding.level}: ${finding.place ? `${finding.place}: ` : ""}${finding.message} [${finding.rule}]`), true],
    ["There is no request", outline.unsent ? [outline.unsent] : [], true],
    ["Decided about the request", outline.about, false],
    ["Not carried from the file", outline.notes, false],
  ];
  for (const [title, lines, isOpen] of lists) {
    if (lines.length) card.append(make("details", { open: isOpen }, make("summary", null, `${title} (${lines.length})`), make("ul", null, lines.slice(0, 100).map((line) => make("li", null, line)))));
  }
  if (outline.system) card.append(make("details", null, make("summary", null, "System prompt"), folded(outline.system, "about:system", Fold.text, markdown, changed)));
  if (outline.wire) {
    const around = { ...outline.wire.fields, ...(outline.wire.first.length ? { "first messages": outline.wire.first } : {}) };
    card.append(make("details", null, make("summary", null, `Around the messages, for ${outline.wire.route}`), folded(JSON.stringify(around, null, 2), "about:wire", Fold.text, plain("json"), changed)));
  }
  return card;
}
