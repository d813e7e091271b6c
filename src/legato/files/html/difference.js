// What changed between two texts, line by line.

const MOST_CELLS = 1_000_000;

/** Runs of lines: `[" ", lines]` stays, `["-", lines]` goes, `["+", lines]` comes. */
function difference(before, after) {
  const old = before.split("\n");
  const now = after.split("\n");
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const runs = [];
  run(runs, " ", old.slice(0, start));
  middle(runs, old.slice(start, old.length - end), now.slice(start, now.length - end));
  run(runs, " ", end ? old.slice(-end) : []);
  return runs;
}

function run(runs, sign, lines) {
  if (!lines.length) return;
  if (!runs.length || runs[runs.length - 1][0] !== sign) runs.push([sign, []]);
  const held = runs[runs.length - 1][1];
  for (const line of lines) held.push(line);
}

/** The longest common lines of both stay; texts that are too long for that are replaced as a whole. */
function middle(runs, old, now) {
  if (old.length * now.length > MOST_CELLS) {
    run(runs, "-", old);
    run(runs, "+", now);
    return;
  }
  const width = now.length + 1;
  const longest = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      const here = i * width + j;
      longest[here] = old[i] === now[j] ? longest[here + width + 1] + 1 : Math.max(longest[here + width], longest[here + 1]);
    }
  }
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      run(runs, " ", [old[i]]);
      i += 1;
      j += 1;
    } else if (i < old.length && (j === now.length || longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
      run(runs, "-", [old[i]]);
      i += 1;
    } else {
      run(runs, "+", [now[j]]);
      j += 1;
    }
  }
}

/** Runs as an element: one child a run, however many lines it has. */
function differenceElement(runs) {
  const names = { " ": "same", "-": "gone", "+": "new" };
  return make(
    "pre.difference",
    { tabindex: "0" },
    runs.map(([sign, lines]) => make(`span.${names[sign]}`, null, lines.map((line) => `${sign} ${line}\n`).join(""))),
  );
}

/** The runs of a patch that is already written as one. */
function patchRuns(patch) {
  const runs = [];
  for (const line of patch.split("\n")) {
    const sign = /^[+-]/.test(line) && !/^(\+\+\+|---)( |$)/.test(line) ? line[0] : " ";
    run(runs, sign, [sign === " " ? line.replace(/^ /, "") : line.slice(1)]);
  }
  return runs;
}
