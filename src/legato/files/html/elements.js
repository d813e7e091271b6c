// Elements and texts. Everything a file says goes through `shown` into a text node; nothing is ever parsed as HTML.

const UNSEEN =
  /\r\n?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d/gu;

/** `text` with everything that a reader would not see, or that would change how the rest reads, as an escape. */
function shown(text) {
  return text.replace(UNSEEN, (found) => {
    if (found[0] === "\r") return "\n";
    const code = found.charCodeAt(0);
    return code < 0x100 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
  });
}

/** An element: `make("p.note", {title: "…"}, "text", another)`. Children that are null or false are left out. */
function make(what, properties, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : shown(String(value)));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : shown(String(child)));
  }
}

function byId(id) {
  return document.getElementById(id);
}

// --- numbers and times, for people ---

const NUMBER = new Intl.NumberFormat("en");
const MOMENT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

function counted(count, noun) {
  return `${NUMBER.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** 950, 12.3k, 4.56M. */
function brief(count) {
  if (count < 1000) return String(count);
  const [value, unit] = count < 1e6 ? [count / 1e3, "k"] : [count / 1e6, "M"];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.round((seconds % 86400) / 3600)} h`;
}

function dollars(amount) {
  return amount > 0 && amount < 0.01 ? `$${amount.toFixed(4)}` : `$${amount.toFixed(2)}`;
}

function moment(seconds, format = MOMENT) {
  const date = new Date(seconds * 1000);
  return make("time", { datetime: date.toISOString(), title: date.toISOString() }, format.format(date));
}

/** Choose between light and dark: what the system says, until the reader says otherwise. */
function themes(button) {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.title = `Change to ${isDark() ? "light" : "dark"}`;
    document.dispatchEvent(new Event("theme"));
  };
  const keep = (theme) => {
    root.dataset.theme = theme;
    try {
      localStorage.setItem("legato-theme", theme);
    } catch {
      // a browser that keeps nothing asks the system again next time
    }
    label();
  };
  try {
    const kept = localStorage.getItem("legato-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch {
    // as above
  }
  const change = () => keep(isDark() ? "light" : "dark");
  button.addEventListener("click", change);
  dark.addEventListener("change", label);
  label();
  return change;
}
