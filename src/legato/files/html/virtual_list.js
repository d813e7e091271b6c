// A list of any length of which only what is in sight is in the document.
//
// Every item has a height: guessed until it was seen, measured from then on. The rows that are in sight lie in normal
// flow inside one box, which is moved to where the first of them belongs. When a measured height differs from the
// guess, the position is corrected by the difference, so that what the reader looks at stays where it is.

const TALLEST = 15_000_000; // pixels; browsers cannot place anything much further down. A longer list is scaled.
const BEYOND = 500; // pixels above and below what is in sight that are kept ready

class VirtualList {
  /** `render(item)` makes the element of an item, `guess(item)` its height; items are integers. */
  constructor(scroller, { render, guess, changed = () => {} }) {
    this.scroller = scroller;
    this.holder = scroller.querySelector(".holder");
    this.rows = scroller.querySelector(".rows");
    this.render = render;
    this.guess = guess;
    this.changed = changed;
    this.items = [];
    this.heights = new Map();
    this.tops = new Float64Array(1);
    this.shown = new Map();
    this.isBusy = false;
    this.isDue = false;
    this.isPrinting = false;
    scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(scroller);
    new ResizeObserver(() => this.schedule()).observe(this.rows);
  }

  /** Show these items; the one at the top of the window stays there, if it still is among them. */
  setItems(items) {
    const anchor = this.anchor();
    this.items = items;
    this.place = new Map(items.map((item, place) => [item, place]));
    this.measureTops();
    this.returnTo(anchor);
    this.update();
  }

  returnTo(anchor) {
    if (!anchor) return;
    // The item itself may be gone: then the next one that is left takes its place.
    let place = this.place.get(anchor.item) ?? this.items.findIndex((item) => item >= anchor.item);
    if (place < 0) place = this.items.length - 1;
    const isSame = this.items[place] === anchor.item;
    this.scrollTo(this.tops[Math.max(place, 0)] + (isSame ? anchor.inside : 0));
  }

  schedule() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.update();
    });
  }

  /** Make an item anew, or all of them: something about them has changed. */
  refresh(item) {
    let focused = null;
    for (const [known, element] of [...this.shown]) {
      if (item === undefined || known === item) {
        if (element.contains(document.activeElement)) focused = known;
        element.remove();
        this.shown.delete(known);
      }
    }
    this.update();
    if (focused !== null) this.shown.get(focused)?.focus({ preventScroll: true });
  }

  /** Forget the heights: the width has changed, or everything was unfolded. */
  forget() {
    const anchor = this.anchor();
    this.heights.clear();
    this.measureTops();
    this.returnTo(anchor);
  }

  // --- places ---

  height(item) {
    return this.heights.get(item) ?? this.guess(item);
  }

  measureTops() {
    const tops = new Float64Array(this.items.length + 1);
    for (let place = 0; place < this.items.length; place += 1) tops[place + 1] = tops[place] + this.height(this.items[place]);
    this.tops = tops;
    this.holder.style.height = `${Math.min(this.total, TALLEST)}px`;
  }

  get total() {
    return this.tops[this.items.length];
  }

  /** How many pixels of the list one pixel of the scroll bar stands for. */
  get scale() {
    const room = this.scroller.clientHeight;
    return this.total > TALLEST ? (this.total - room) / (TALLEST - room) : 1;
  }

  get offset() {
    return this.scroller.scrollTop * this.scale;
  }

  scrollTo(offset) {
    this.scroller.scrollTop = offset / this.scale;
  }

  /** The place of the item that is at this offset. */
  placeAt(offset) {
    let low = 0;
    let high = this.items.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  anchor() {
    if (!this.items.length) return null;
    const offset = this.offset;
    const place = this.placeAt(offset + 1); // browsers round positions: what begins within a pixel is at the top
    return { item: this.items[place], inside: offset - this.tops[place] };
  }

  /** The first and the last item that are in sight. */
  inSight() {
    const offset = this.offset;
    return [this.placeAt(offset), this.placeAt(offset + this.scroller.clientHeight - 1)];
  }

  // --- rows ---

  update() {
    if (this.isBusy || this.isPrinting || !this.items.length) {
      if (!this.items.length) this.keep([]);
      return;
    }
    this.isBusy = true;
    for (let round = 0; round < 4; round += 1) {
      const anchor = this.anchor();
      const offset = this.offset;
      const first = this.placeAt(offset - BEYOND);
      const last = this.placeAt(offset + this.scroller.clientHeight + BEYOND);
      this.keep(this.items.slice(first, last + 1));
      const isRight = this.measure();
      const place = this.place.get(anchor.item);
      const wanted = this.tops[place] + anchor.inside;
      if (!isRight && Math.abs(wanted - this.offset) > 0.5) this.scrollTo(wanted);
      const top = this.scroller.scrollTop + this.tops[first] - this.offset;
      this.rows.style.transform = `translateY(${top}px)`;
      if (isRight) break;
    }
    this.isBusy = false;
    this.changed();
  }

  /** Have exactly the elements of these items in the document, in order. */
  keep(items) {
    const wanted = new Set(items);
    for (const [item, element] of [...this.shown]) {
      if (!wanted.has(item)) {
        element.remove();
        this.shown.delete(item);
      }
    }
    let before = null;
    for (const item of items) {
      let element = this.shown.get(item);
      if (!element) {
        element = this.render(item);
        this.shown.set(item, element);
      }
      const next = before ? before.nextSibling : this.rows.firstChild;
      if (next !== element) this.rows.insertBefore(element, next);
      before = element;
    }
  }

  /** Take the heights of what is in the document; whether they were known. */
  measure() {
    let isRight = true;
    for (const [item, element] of this.shown) {
      const height = element.getBoundingClientRect().height;
      if (Math.abs(height - this.height(item)) > 0.5) isRight = false;
      this.heights.set(item, height);
    }
    if (!isRight) this.measureTops();
    return isRight;
  }

  /** Bring an item to the top of the window; its element. */
  show(item) {
    const place = this.place.get(item);
    if (place === undefined) return null;
    // What lies between may have been guessed only: go there, measure, and go again.
    for (let round = 0; round < 3; round += 1) {
      this.scrollTo(this.tops[place]);
      this.update();
    }
    return this.shown.get(item) ?? null;
  }
}
