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

// The text that is packed in an element: gzip, as base64.
Q.unpacked = (element) => {
  const letters = atob(element.textContent);
  const packed = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) packed[at] = letters.charCodeAt(at);
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};

const plain = new Intl.NumberFormat("en-US");
Q.number = (value) => plain.format(value);

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

// The unit that a span of time is shown in, and its seconds.
Q.timeUnit = (span) => [["days", 86400, 3], ["hours", 3600, 3], ["minutes", 60, 3], ["seconds", 1, 0]]
  .find(([, size, least]) => span >= size * least);

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

// Paper is light, whatever the theme; what is redrawn at once is drawn for it.
Q.onPrint = [];
const shown = document.documentElement.dataset;
const drawnIn = (theme) => {
  shown.theme = theme;
  for (const redraw of Q.onPrint) redraw();
};
addEventListener("beforeprint", () => {
  shown.before = shown.theme;
  drawnIn("light");
});
addEventListener("afterprint", () => drawnIn(shown.before));

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

// Gives an object what is made when it is first asked for.
Q.lazily = (object, name, make) => Object.defineProperty(object, name, {
  configurable: true,
  get: () => {
    const value = make();
    Object.defineProperty(object, name, { value });
    return value;
  },
});

// A run with what is looked up in it again and again.
Q.opened = (run) => {
  const { pods, nodes } = run;
  run.key = (row) => `${Q.at(pods.namespace, row)}/${pods.name[row]}`;
  run.podCount = pods.name.length;
  Q.lazily(run, "podsOn", () => {
    const found = Array.from(nodes.name, () => []);
    pods.node.forEach((node, row) => {
      if (node >= 0 && Q.at(pods.state, row) !== "finished") found[node].push(row);
    });
    return found;
  });
  Q.lazily(run, "rowOf", () => new Map(pods.name.map((_, row) => [run.key(row), row])));
  Q.lazily(run, "attemptsOf", () => {
    const found = new Map();
    for (const attempt of run.attempts) {
      if (!found.has(attempt.pod)) found.set(attempt.pod, []);
      found.get(attempt.pod).push(attempt);
    }
    return found;
  });
  run.share = (resource, node) => {
    const offered = nodes.allocatable[resource][node];
    const asked = nodes.requested[resource][node];
    return offered ? asked / offered : asked ? 2 : 0;
  };
  run.workloadOf = (row) => Q.at(pods.workload, row) || `Pod/${pods.name[row]}`;
  run.isPriced = nodes.price.some((price) => price !== null);
  run.total = (column) => column.reduce((sum, one) => sum + one, 0);
  return run;
};
