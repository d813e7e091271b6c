// The list of sessions: sorted by what the reader clicks, narrowed by what the reader types.

const sessions = JSON.parse(byId("sessions").textContent);
const AT_ONCE = 150;
const body = byId("sessions-table").tBodies[0];
const order = { column: 1, isDown: true };
let most = AT_ONCE;

const tokensOf = (row) => (row.usage ? (row.usage.input ?? 0) + (row.usage.output ?? 0) : null);
const lasted = (row) => (row.first === null || row.last === null ? null : row.last - row.first);
const damageOf = (row) => row.errors * 1e6 + row.risks;

/** Columns: a title, what rows are sorted by, and what a cell shows. */
const COLUMNS = [
  ["Session", (row) => row.title || row.file, (row) => [make("a", { href: encodeURIComponent(row.page) }, row.title || row.file), make("span.file", null, row.file)]],
  ["Begun", (row) => row.first, (row) => row.first !== null && moment(row.first)],
  ["Lasted", lasted, (row) => lasted(row) !== null && duration(lasted(row))],
  ["Model", (row) => row.models.join(", ") || row.format, (row) => [row.models.join(", ") || "–", make("span.file", null, row.format)]],
  ["Turns", (row) => row.turns, (row) => NUMBER.format(row.turns)],
  ["Calls", (row) => row.calls, (row) => NUMBER.format(row.calls)],
  ["Tokens", tokensOf, (row) => tokensOf(row) !== null && make("span", { title: `${NUMBER.format(row.usage.input ?? 0)} in, ${NUMBER.format(row.usage.output ?? 0)} out` }, brief(tokensOf(row)))],
  ["Cost", (row) => row.cost, (row) => row.cost !== null && `${row.unpriced ? "≥ " : ""}${dollars(row.cost)}`],
  ["Findings", damageOf, (row) => (row.errors ? make("span.badge.error", null, counted(row.errors, "error")) : row.risks ? make("span.badge.risk", null, `${row.risks} risky`) : make("span.quiet", null, "none"))],
];

function head() {
  const cells = COLUMNS.map(([title], column) =>
    make(
      "th",
      { scope: "col", "aria-sort": column === order.column ? (order.isDown ? "descending" : "ascending") : null },
      make("button.quiet", { type: "button", onclick: () => sortBy(column) }, title),
    ),
  );
  byId("sessions-table").tHead.replaceChildren(make("tr", null, cells));
}

function sortBy(column) {
  order.isDown = order.column === column ? !order.isDown : column > 0;
  order.column = column;
  show();
}

function wanted() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const isDamaged = byId("damaged").checked;
  const key = COLUMNS[order.column][1];
  const found = sessions.rows.filter((row) => {
    const text = `${row.title} ${row.file} ${row.models.join(" ")} ${row.format}`.toLowerCase();
    return (!isDamaged || row.errors) && words.every((word) => text.includes(word));
  });
  const compare = (one, other) => {
    const [a, b] = [key(one), key(other)];
    if (a === null || b === null) return (a === null) - (b === null);
    const difference = typeof a === "string" ? a.localeCompare(b) : a - b;
    return order.isDown ? -difference : difference;
  };
  return found.sort(compare);
}

function show() {
  head();
  const rows = wanted();
  body.replaceChildren(
    ...rows.slice(0, most).map((row) => make("tr", null, COLUMNS.map(([title, , cell]) => make("td", { "data-title": title }, cell(row))))),
  );
  const left = rows.length - most;
  const more = make("button", { type: "button", onclick: () => { most += AT_ONCE; show(); } }, `Show ${NUMBER.format(Math.min(left, AT_ONCE))} more of ${NUMBER.format(left)}`);
  byId("rest").replaceChildren(...(left > 0 ? [more] : rows.length ? [] : ["No session is like that."]));
  byId("matches").value = rows.length < sessions.rows.length ? NUMBER.format(rows.length) : "";
}

function facts() {
  const sum = (value) => sessions.rows.reduce((total, row) => total + (value(row) ?? 0), 0);
  const errors = sessions.rows.filter((row) => row.errors).length;
  const [tokens, cost] = [sum(tokensOf), sum((row) => row.cost)];
  const told = [
    errors ? make("span.badge.error", null, `${counted(errors, "session")} with errors`) : make("span.badge.fine", null, "nothing broken"),
    counted(sessions.rows.length, "session"),
    counted(sum((row) => row.turns), "turn"),
    tokens > 0 && `${brief(tokens)} tokens`,
    cost > 0 && `${sessions.rows.some((row) => row.unpriced) ? "at least " : ""}${dollars(cost)}`,
  ];
  for (const fact of told) if (fact) byId("facts").append(make("span.fact", null, fact));
}

if (sessions.unread.length) {
  const lines = sessions.unread.slice(0, 200).map(([, message]) => make("li", null, message));
  byId("unread").append(make("details", null, make("summary", null, `${counted(sessions.unread.length, "file")} without a page`), make("ul", null, lines)));
}
themes(byId("theme"));
for (const id of ["search", "damaged"]) {
  byId(id).addEventListener("input", () => {
    most = AT_ONCE;
    show();
  });
}
byId("tools").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== byId("search")) {
    event.preventDefault();
    byId("search").select();
  }
});
facts();
show();
document.documentElement.dataset.ready = "all";
