"use strict";
(() => {
  const root = document.documentElement;
  const filter = document.getElementById("filter");
  const theme = document.getElementById("theme");
  const shown = document.getElementById("shown");
  const parts = [...document.querySelectorAll("#conversation article")];
  const cards = [...document.querySelectorAll("#request article")];
  const calls = [...document.querySelectorAll("#conversation .call")];

  const counterparts = (number) => [...document.querySelectorAll(`.call[data-call="${number}"]`)];

  function mark(call) {
    for (const other of document.querySelectorAll(".here")) other.classList.remove("here");
    if (call.dataset.call === "") return;
    for (const other of counterparts(call.dataset.call)) other.classList.add("here");
  }

  function otherSide(call) {
    const side = call.closest("section").id;
    return counterparts(call.dataset.call).find((other) => other.closest("section").id !== side && visible(other));
  }

  const visible = (element) => element.closest("[hidden]") === null;

  function show(call) {
    call.focus({ preventScroll: true });
    call.scrollIntoView({ block: "center" });
    const other = otherSide(call);
    if (other) other.scrollIntoView({ block: "center" });
  }

  function step(by) {
    const list = calls.filter(visible);
    if (list.length === 0) return;
    const now = document.querySelector("#conversation .here");
    const at = list.indexOf(now);
    show(list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)]);
  }

  function apply() {
    const wanted = filter.value;
    const holds = (element) => element.dataset.labels.split("\n").includes(wanted);
    const numbers = new Set();
    let count = 0;
    for (const part of parts) {
      const own = [...part.querySelectorAll(".call")];
      const fits = wanted === "" || holds(part) || own.some(holds);
      part.hidden = !fits;
      if (!fits) continue;
      count += 1;
      for (const call of own) if (wanted === "" || holds(call)) numbers.add(call.dataset.call);
    }
    for (const card of cards) {
      const own = [...card.querySelectorAll(".call")];
      card.hidden = wanted !== "" && !own.some((call) => numbers.has(call.dataset.call));
    }
    for (const turn of document.querySelectorAll(".turn")) turn.hidden = wanted !== "";
    shown.value = wanted === "" ? "" : `${count} of ${parts.length} parts`;
  }

  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  function name() {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-pressed", String(isDark()));
  }

  function turnTheme() {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  }

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    o: () => {
      const now = document.activeElement.closest(".call") ?? document.querySelector("#conversation .here");
      const other = now && otherSide(now);
      if (other) show(other);
    },
    f: () => filter.focus(),
    t: turnTheme,
    Escape: () => {
      filter.value = "";
      apply();
    },
  };

  document.addEventListener("focusin", (event) => {
    const call = event.target.closest?.(".call");
    if (call) mark(call);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.other");
    const call = event.target.closest?.(".call");
    if (link) {
      event.preventDefault();
      const other = otherSide(call);
      if (other) show(other);
    } else if (call) {
      mark(call);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("select, input, textarea") && event.key !== "Escape") return;
    const act = keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  document.getElementById("controls").addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("change", apply);
  theme.addEventListener("click", turnTheme);
  name();
  apply();
  root.dataset.ready = "yes";
})();
