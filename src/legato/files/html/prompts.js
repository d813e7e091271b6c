// The list of prompts at the side: one line for each thing that a person said.

const PROMPT_HEIGHT = 58;

/** The list; `jump(number)` goes to an entry. */
function promptList(nav, jump) {
  const list = new VirtualList(nav.querySelector(".scroller"), {
    guess: () => PROMPT_HEIGHT,
    render: (item) => {
      const [number, text] = outline.prompts[item];
      const at = columns.at[number];
      const row = make(
        "a.prompt",
        {
          href: `#turn-${item + 1}`,
          "aria-current": item === list.current ? "true" : null,
          onclick: (event) => {
            event.preventDefault();
            jump(number);
          },
        },
        make("span.which", null, `${item + 1}`),
        make("span.words", null, promptWords(text).replaceAll("`", "") || "(no text)"),
        at !== null && make("span.at", null, moment(at, CLOCK)),
        damageOfTurn(item),
      );
      return row;
    },
  });
  list.current = -1;
  list.setItems(outline.prompts.map((_, place) => place));
  return list;
}

/** A prompt without the marks that programs put around commands. */
function promptWords(text) {
  const command = text.match(/<command-name>\s*([^<]*?)\s*<\/command-name>/);
  if (command) {
    const given = text.match(/<command-args>\s*([^<]*?)\s*<\/command-args>/);
    return `${command[1]} ${given ? given[1] : ""}`.trim();
  }
  return text.replace(/<\/?[a-z-]{3,40}>/g, "").trim();
}

/** A mark for a turn in which something is damaged, in the colours of the strip; false if nothing is. */
function damageOfTurn(item) {
  const end = item + 1 < outline.prompts.length ? outline.prompts[item + 1][0] : outline.count;
  let marks = 0;
  for (let number = outline.prompts[item][0]; number < end; number += 1) marks |= columns.marks[number];
  if (marks & Marks.ERROR) return make("span.damage.error", { title: "Something in this turn is damaged" }, "●");
  return marks & DAMAGED ? make("span.damage", { title: "Something in this turn was put right" }, "●") : false;
}

/** The prompt that an entry follows; -1 before the first. */
function promptOf(number) {
  let low = -1;
  let high = outline.prompts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (outline.prompts[middle][0] <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}
