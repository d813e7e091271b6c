// The strip: every entry of the conversation as a bar, and a mark above each that is damaged.

const WIDEST = 26; // pixels of one bar

class Strip {
  constructor(canvas, hint, { jump, isShown, describe }) {
    this.canvas = canvas;
    this.hint = hint;
    this.jump = jump;
    this.isShown = isShown;
    this.describe = describe;
    this.matches = new Set();
    this.window = [0, 0];
    this.value = 0;
    canvas.setAttribute("aria-valuemax", outline.count);
    new ResizeObserver(() => this.draw()).observe(canvas);
    document.addEventListener("theme", () => this.draw());
    canvas.addEventListener("pointerdown", (event) => this.drag(event));
    canvas.addEventListener("pointermove", (event) => this.point(event));
    canvas.addEventListener("pointerleave", () => (hint.hidden = true));
    canvas.addEventListener("keydown", (event) => this.press(event));
  }

  /** The pixels that one entry has; of a short conversation the bars are together, at the beginning. */
  get step() {
    return Math.min(this.canvas.clientWidth / outline.count, WIDEST);
  }

  numberAt(event) {
    const box = this.canvas.getBoundingClientRect();
    return Math.min(Math.max(Math.floor((event.clientX - box.left) / this.step), 0), outline.count - 1);
  }

  /** The entry that is meant by pointing there: a damaged one close by wins, because marks are hard to hit. */
  meantBy(event) {
    const number = this.numberAt(event);
    const reach = Math.ceil(3 / this.step);
    for (let distance = 0; distance <= reach; distance += 1) {
      for (const near of [number + distance, number - distance]) if (columns.marks[near] & Marks.ERROR) return near;
    }
    return number;
  }

  drag(event) {
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    const move = (moved) => this.jump(this.meantBy(moved));
    const end = () => this.canvas.removeEventListener("pointermove", move);
    this.canvas.addEventListener("pointermove", move);
    this.canvas.addEventListener("pointerup", end, { once: true });
    this.canvas.addEventListener("pointercancel", end, { once: true });
    move(event);
  }

  point(event) {
    const number = this.meantBy(event);
    this.hint.textContent = shown(this.describe(number));
    this.hint.hidden = false;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    this.hint.style.left = `${Math.min(Math.max(x - this.hint.offsetWidth / 2, 0), box.width - this.hint.offsetWidth)}px`;
  }

  press(event) {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
    const ends = { Home: 0, End: outline.count - 1 };
    const next = event.key in steps ? this.value + steps[event.key] : ends[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.jump(Math.min(Math.max(next, 0), outline.count - 1), { keepFocus: true });
  }

  /** The reader looks at these entries. */
  look(first, last, value) {
    if (this.window[0] === first && this.window[1] === last && this.value === value) return;
    this.window = [first, last];
    this.value = value;
    this.canvas.setAttribute("aria-valuenow", value + 1);
    this.canvas.setAttribute("aria-valuetext", this.describe(value));
    this.draw();
  }

  draw() {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!width || !outline.count) return;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const { step } = this;
    const lane = 9; // the lane of the marks
    const floor = height - 5;
    pen.fillStyle = colour("strip-window");
    const left = this.window[0] * step;
    pen.fillRect(left, 0, Math.max((this.window[1] + 1) * step - left, 3), height);
    this.drawBars(pen, { width, step, lane, floor, colour });
    this.drawMarks(pen, { step, floor, colour });
    pen.fillStyle = colour("accent");
    for (const number of this.matches) pen.fillRect(number * step, height - 3, Math.max(step, 2), 3);
  }

  drawBars(pen, { width, step, lane, floor, colour }) {
    const names = { human: "human", model: "model" };
    const colours = outline.speakers.map((name) => colour(`strip-${names[name] ?? "other"}`));
    const tool = colour("strip-tool");
    const room = floor - lane;
    // Where many entries share a pixel, the longest of them is drawn, and a person's always.
    const columnCount = Math.min(outline.count, Math.ceil(width));
    for (let column = 0; column < columnCount; column += 1) {
      const first = Math.floor((column * outline.count) / columnCount);
      const end = Math.max(Math.floor(((column + 1) * outline.count) / columnCount), first + 1);
      let best = first;
      for (let number = first; number < end; number += 1) {
        if (speakerOf(number) === "human" && !columns.agent[number]) {
          best = number;
          break;
        }
        if (columns.lines[number] > columns.lines[best]) best = number;
      }
      const isPerson = speakerOf(best) === "human" && !columns.agent[best];
      const size = isPerson ? room : Math.min(room, 4 + Math.log2(1 + columns.lines[best]) * (room / 9));
      pen.globalAlpha = this.isShown(best) ? 1 : 0.2;
      pen.fillStyle = columns.marks[best] & Marks.CALLS ? tool : columns.agent[best] ? colours[1] : colours[columns.speaker[best]];
      const x = first * step;
      const wide = Math.max((end - first) * step - (step > 4 ? 1.5 : step > 2 ? 0.5 : 0), 1);
      pen.fillRect(x, floor - size, wide, size);
    }
    pen.globalAlpha = 1;
  }

  drawMarks(pen, { step, floor, colour }) {
    for (const [marks, name] of [[Marks.RISK | Marks.MADE | Marks.MOVED, "risk"], [Marks.ERROR, "error"]]) {
      pen.fillStyle = colour(name);
      for (let number = 0; number < outline.count; number += 1) {
        if (!(columns.marks[number] & marks)) continue;
        const wide = Math.max(step - (step > 4 ? 1.5 : 0), 2);
        const x = number * step;
        pen.fillRect(x, 8, wide, floor - 8);
        pen.beginPath();
        pen.moveTo(x + wide / 2 - 5, 0);
        pen.lineTo(x + wide / 2 + 5, 0);
        pen.lineTo(x + wide / 2, 8);
        pen.fill();
      }
    }
  }
}
