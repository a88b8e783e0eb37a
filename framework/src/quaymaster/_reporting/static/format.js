"use strict";
// What every part of the page uses: elements, amounts, times, columns.
const Q = {};

// Makes an element. Texts become text nodes, never markup.
Q.el = (tag, props, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((one) => one !== null && one !== undefined));
  return node;
};

Q.number = (value) => value.toLocaleString("en-US");

Q.amount = (resource, value) => {
  if (resource === "cpu") return `${Q.short(value / 1000)} CPU`;
  if (resource === "memory" || resource === "ephemeral-storage") return Q.bytes(value);
  return Q.number(value);
};

Q.short = (value) => (Math.abs(value) >= 100 ? Q.number(Math.round(value)) : String(Math.round(value * 100) / 100));

Q.bytes = (value) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${Q.short(value)} ${units[unit]}`;
};

Q.time = (seconds) => {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 60) return `${Math.round(seconds * 1000) / 1000}s`;
  const parts = [];
  let left = Math.round(seconds);
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]]) {
    if (left >= size) {
      parts.push(`${Math.floor(left / size)}${unit}`);
      left %= size;
    }
  }
  return parts.slice(0, 3).join("");
};

Q.percent = (share) => `${Math.round(share * 1000) / 10}%`;

Q.counted = (count, word) => `${Q.number(count)} ${word}${count === 1 ? "" : "s"}`;

Q.at = (column, row) => column.values[column.codes[row]];

Q.style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Redraws what is drawn in colours of its own whenever the theme changes.
Q.onTheme = [];
Q.theme = (name) => {
  const dark = name === "dark" || (name === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  for (const redraw of Q.onTheme) redraw();
};

Q.picker = (text, options, value, change) => {
  const select = Q.el("select", { onchange: () => change(select.value) });
  for (const [key, shown] of options) select.append(Q.el("option", { value: key, selected: key === value }, shown));
  return Q.el("label", {}, text, select);
};

Q.section = (id, title, ...controls) => {
  const heading = Q.el("h2", { id: `${id}-title` }, title);
  const tools = Q.el("div", { class: "chips controls" }, ...controls);
  return Q.el("section", { id, "aria-labelledby": `${id}-title` }, Q.el("div", { class: "head" }, heading, tools));
};

// A run with what is looked up in it again and again.
Q.opened = (run) => {
  const { pods, nodes } = run;
  run.key = (row) => `${Q.at(pods.namespace, row)}/${pods.name[row]}`;
  run.podCount = pods.name.length;
  run.podsOn = Array.from(nodes.name, () => []);
  run.rowOf = new Map();
  for (let row = 0; row < run.podCount; row += 1) {
    run.rowOf.set(run.key(row), row);
    if (pods.node[row] >= 0 && Q.at(pods.state, row) !== "finished") run.podsOn[pods.node[row]].push(row);
  }
  run.attemptsOf = new Map();
  for (const attempt of run.attempts) {
    if (!run.attemptsOf.has(attempt.pod)) run.attemptsOf.set(attempt.pod, []);
    run.attemptsOf.get(attempt.pod).push(attempt);
  }
  run.share = (resource, node) => {
    const offered = nodes.allocatable[resource][node];
    const asked = nodes.requested[resource][node];
    return offered ? asked / offered : asked ? 2 : 0;
  };
  run.total = (column) => column.reduce((sum, one) => sum + one, 0);
  return run;
};
