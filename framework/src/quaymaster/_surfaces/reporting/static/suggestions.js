"use strict";
// Changes that place pending pods, linked to their workloads.

// The workloads of some pods, with how many pods each has; most pods first.
Q.owners = (run, rows) => {
  const counts = new Map();
  for (const row of rows) counts.set(run.workloadOf(row), (counts.get(run.workloadOf(row)) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
};

// A list of links to the pods of each of these workloads.
Q.ownerList = (run, rows, tables) => {
  const owners = Q.owners(run, rows);
  const pods = new Set(rows);
  const names = owners.slice(0, 6).map(([name, count]) => Q.el("li", {}, Q.link(`${name} (${count})`, () => tables.pods(name, (row) => pods.has(row) && run.workloadOf(row) === name))));
  if (owners.length > 6) names.push(Q.el("li", {}, `and ${owners.length - 6} more`));
  return Q.el("ul", { class: "names", "aria-label": "Workloads" }, names);
};

Q.link = (words, act) => Q.el("button", { type: "button", class: "link", onclick: act }, words);

Q.rowsOf = (run, keys) => keys.map((key) => run.rowOf.get(key)).filter((row) => row !== undefined);

// The numbers of the changes that place some of these pods, as links to the changes.
Q.changesFor = (run, rows) => {
  const pods = new Set(rows);
  return run.suggestions.changes
    .map((change, index) => ({ change, number: index + 1 }))
    .filter(({ change }) => change.text && Q.rowsOf(run, change.pods).some((row) => pods.has(row)))
    .map(({ change, number }) => Q.link(`change ${number}`, () => {
      const item = document.getElementById(`change-${number}`);
      item.scrollIntoView({ block: "start" });
      item.focus();
    }));
};

Q.changeItem = (run, change, number, tables) => {
  const rows = Q.rowsOf(run, change.pods);
  const all = new Set(rows);
  const count = Q.link(Q.counted(change.pods.length, "pod"), () => tables.pods(`change ${number}`, (row) => all.has(row)));
  const words = change.text ? [change.effect ? `It ${change.effect}. ` : "", "With it, a node is there for ", count, " of:"] : [count, " of:"];
  return Q.el("li", { id: `change-${number}`, tabindex: -1 },
    Q.el("p", { class: "change" }, change.text ? `${change.text}.` : "No tried change places all of these pods."),
    change.lines.length ? Q.el("pre", { tabindex: 0, "aria-label": `How to make change ${number}` }, change.lines.join("\n")) : null,
    Q.el("div", { class: "amount" }, words),
    Q.ownerList(run, rows, tables),
    change.remarks.map((text) => Q.el("p", { class: "note" }, text)));
};

Q.suggestionList = (run, tables) => {
  const { changes, remarks, trials, complete } = run.suggestions;
  const parts = [Q.el("h3", {}, "Changes that place them")];
  if (changes.length) parts.push(Q.el("ol", { class: "changes" }, changes.map((change, index) => Q.changeItem(run, change, index + 1, tables))));
  for (const [text, keys] of remarks) parts.push(Q.el("p", { class: "note" }, `${Q.counted(keys.length, "pod")}: ${text}`));
  parts.push(Q.el("p", { class: "note" }, `Each change was tried alone, in ${Q.counted(trials, "simulation")} of the whole input.${complete ? "" : " Not all changes were tried: --max-trials N tries more."}`));
  return parts;
};

// Who can search for changes: the live page sets it.
Q.suggester = null;

// The changes if there are any, or how to get them.
Q.suggestions = (run, tables) => {
  if (run.suggestions) return Q.suggestionList(run, tables);
  const host = Q.el("div");
  const words = "Each change is simulated with the whole input, so a search takes much longer than this page.";
  if (Q.suggester) {
    host.append(Q.el("p", { class: "note" }, words), Q.el("p", {}, Q.el("button", { type: "button", onclick: () => Q.suggester(run, host, tables) }, "Search for changes that place them")));
    return [host];
  }
  host.append(
    Q.el("p", { class: "note" }, `Changes that place them are shown here with --suggest. ${words}`),
    Q.el("pre", { tabindex: 0, "aria-label": "A command" }, "quaymaster capacity INPUT --report FILE.html --suggest"));
  return [host];
};
