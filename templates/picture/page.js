"use strict";
(() => {
  const one = (id) => document.getElementById(id);
  const all = (selector, of = document) => [...of.querySelectorAll(selector)];
  const lines = all(".line"), rows = all("tbody tr"), namespaces = all(".namespace");
  const texts = new Map(lines.map((line) => [line, line.textContent.toLowerCase()]));
  const tools = document.querySelector(".tools"), search = one("search"), off = one("off");

  const shown = (line, words, clouds) =>
    words.every((word) => texts.get(line).includes(word)) &&
    !(off.checked && line.dataset.state === "fine") &&
    line.dataset.clouds.split(" ").some((cloud) => clouds.has(cloud));

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const clouds = new Set(all("[name=cloud]:checked").map((box) => box.value));
    for (const line of lines) line.hidden = !shown(line, words, clouds);
    for (const row of rows) row.hidden = one(row.dataset.line).hidden || !clouds.has(row.dataset.cloud);
    for (const each of namespaces) each.hidden = !all(".line:not([hidden])", each).length;
    const count = lines.filter((line) => !line.hidden).length;
    one("count").textContent = count === lines.length ? "" : `${count} of ${lines.length} lines`;
  };

  const view = () => {
    document.body.dataset.view = tools.elements.view.value;
  };

  const open = () => {
    const place = one(decodeURIComponent(location.hash.slice(1)));
    if (!place) return;
    if (place.hidden) tools.reset(), filter();
    tools.elements.view.value = "map";
    view();
    if (place.matches("details")) place.open = true;
    place.scrollIntoView({ block: "start" });
    place.querySelector("summary")?.focus({ preventScroll: true });
  };

  const step = (by) => {
    const heads = lines.filter((line) => !line.hidden).map((line) => line.firstElementChild);
    const at = heads.indexOf(document.activeElement);
    const next = heads[at < 0 ? (by > 0 ? 0 : heads.length - 1) : at + by];
    if (next) next.focus();
    return Boolean(next);
  };

  const copy = async () => {
    const cells = (row) => [...row.cells].map((cell) => cell.innerText.trim().replace(/\s+/g, " ")).join("\t");
    const text = all("#table tr:not([hidden])").map(cells).join("\n");
    try {
      await navigator.clipboard.writeText(text);
      one("copied").textContent = ` ${text.split("\n").length - 1} rows copied.`;
    } catch {
      getSelection().selectAllChildren(document.querySelector("#table table"));
      one("copied").textContent = " Marked: copy it with your keyboard.";
    }
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input[type=search]");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !typing) event.preventDefault(), search.focus(), search.select();
    else if (event.key === "Escape" && typing) (search.value = ""), filter();
    else if (event.key === "ArrowDown" && (typing || event.target.closest(".line"))) step(1) && event.preventDefault();
    else if (event.key === "ArrowUp" && event.target.closest(".line")) step(-1) ? event.preventDefault() : search.focus();
  });
  tools.addEventListener("submit", (event) => event.preventDefault());
  tools.addEventListener("input", () => (filter(), view()));
  one("copy").addEventListener("click", copy);
  addEventListener("hashchange", open);
  filter(), view(), open();
})();
