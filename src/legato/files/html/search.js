// Search in everything, chunk after chunk, and let the browser breathe in between.

const PAUSE = 12; // milliseconds of work after which others get their turn

class Search {
  /** `told(matches, isDone)` hears of the numbers of matching entries. */
  constructor(told) {
    this.told = told;
    this.run = 0;
    this.wanted = "";
  }

  async find(wanted) {
    this.run += 1;
    this.wanted = wanted.toLowerCase();
    const run = this.run;
    const matches = [];
    if (!this.wanted) {
      this.told(matches, true);
      return;
    }
    const inJson = rawPattern(wanted);
    let began = performance.now();
    for (let chunk = 0; chunk < outline.chunks.length; chunk += 1) {
      while (chunkText(chunk) === null && document.readyState === "loading") await pause(50);
      this.findIn(chunk, inJson, matches);
      if (performance.now() - began > PAUSE) {
        this.told(matches, false);
        await pause(0);
        if (run !== this.run) return;
        began = performance.now();
      }
    }
    this.told(matches, true);
  }

  findIn(chunk, inJson, matches) {
    const text = chunkText(chunk);
    // To look into the JSON is much cheaper than to parse it, and most chunks have nothing.
    if (text === null || !inJson.test(text)) return;
    JSON.parse(text).forEach((entry, place) => {
      for (const part of textsOf(entry)) {
        if (part.toLowerCase().includes(this.wanted)) {
          matches.push(outline.chunks[chunk] + place);
          return;
        }
      }
    });
  }
}

/** What `wanted` looks like inside a JSON string; characters that may be written in two ways match anything. */
function rawPattern(wanted) {
  const pattern = Array.from(wanted, (character) => {
    if (/[\w\s.,:;()\[\]{}=+*?!@#%^&|'~`-]/.test(character) && !/[\n\r\t\f\v]/.test(character)) return character.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return "[^]{1,12}?";
  });
  return new RegExp(pattern.join(""), "iu");
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Mark `wanted` wherever it is in sight, without a change to the document. */
function highlight(root, wanted) {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("match");
  if (!wanted) return;
  const small = wanted.toLowerCase();
  const ranges = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && ranges.length < 500) {
    const text = walker.currentNode.data.toLowerCase();
    if (text.length !== walker.currentNode.data.length) continue; // a letter that is two when it is small
    for (let at = text.indexOf(small); at !== -1 && ranges.length < 500; at = text.indexOf(small, at + small.length)) {
      const range = new Range();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + small.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("match", new Highlight(...ranges));
}
