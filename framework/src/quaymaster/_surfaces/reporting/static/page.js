"use strict";
// Puts the page together.
Q.read = async () => JSON.parse(await Q.unpacked(document.getElementById("data")));

// What waits until the page can be used.
Q.later = (work) => (globalThis.requestIdleCallback ? requestIdleCallback(work, { timeout: 1000 }) : setTimeout(work, 50));

Q.podTable = (run) => {
  const { pods, nodes } = run;
  const column = (title, values) => ({ title, text: (row) => Q.at(values, row) });
  const time = (title, values) => ({ title, number: true, text: (row) => Q.time(values[row]), key: (row) => values[row] });
  // Columns in which nothing is said of any pod are left out.
  const said = {
    namespace: pods.namespace.values.length > 1, priority: pods.priority.some(Boolean),
    created: pods.created.some(Boolean), ended: pods.finished.some((one) => one !== null),
    cause: pods.cause.values.some(Boolean),
  };
  const waits = pods.bound.map((bound, row) => (bound === null ? null : bound - pods.created[row]));
  const columns = [
    { title: "Pod", text: (row) => pods.name[row], open: true },
    said.namespace && column("Namespace", pods.namespace),
    column("Workload", pods.workload),
    pods.group && column("PodGroup", pods.group),
    { title: "State", text: (row) => Q.at(pods.state, row), class: (row) => `state-${Q.at(pods.state, row)}` },
    { title: "Node", text: (row) => (pods.node[row] < 0 ? "–" : nodes.name[pods.node[row]]) },
    ...run.resources.slice(0, -1).map((name, one) => ({ title: name, number: true, text: (row) => Q.amount(name, pods.requests[one][row]), key: (row) => pods.requests[one][row] }))
      .filter((_, one) => one < 2 || pods.requests[one].some(Boolean)),
    said.priority && { title: "Priority", number: true, text: (row) => String(pods.priority[row]), key: (row) => pods.priority[row] },
    said.created && time("Created", pods.created), time("Bound", pods.bound), waits.some(Boolean) && time("Waited", waits), said.ended && time("Ended", pods.finished),
    { title: "Attempts", number: true, text: (row) => String(pods.attempts[row]), key: (row) => pods.attempts[row] },
    said.cause && { title: "Why not", text: (row) => Q.at(pods.cause, row) },
  ].filter(Boolean);
  return Q.table({ title: "Pods", columns, count: run.podCount, open: (row) => Q.openPod(run, row) });
};

Q.nodeTable = (run) => {
  const { nodes } = run;
  const zone = Q.ZONE.find((key) => nodes.labels[key]);
  const type = Q.TYPE.find((key) => nodes.labels[key]);
  const columns = [
    { title: "Node", text: (row) => nodes.name[row], open: true },
    { title: "Status", text: (row) => Q.at(nodes.status, row), class: (row) => (Q.at(nodes.closed, row) ? "state-pending" : "") },
    ...(type ? [{ title: "Type", text: (row) => Q.at(nodes.labels[type], row) }] : []),
    ...(zone ? [{ title: "Zone", text: (row) => Q.at(nodes.labels[zone], row) }] : []),
    ...run.resources.flatMap((name, one) => [
      { title: `${name} requested`, number: true, text: (row) => Q.amount(name, nodes.requested[one][row]), key: (row) => nodes.requested[one][row] },
      { title: "of", number: true, text: (row) => Q.amount(name, nodes.allocatable[one][row]), key: (row) => nodes.allocatable[one][row] },
      { title: "%", number: true, text: (row) => Q.percent(run.share(one, row)), key: (row) => run.share(one, row) },
    ]),
    ...(run.isPriced ? [{ title: "Price per hour", number: true, text: (row) => (nodes.price[row] === null ? "–" : Q.price(nodes.price[row])), key: (row) => nodes.price[row] }] : []),
    ...(nodes.taints.values.some(Boolean) ? [{ title: "Taints", text: (row) => Q.at(nodes.taints, row) }] : []),
  ];
  return Q.table({ title: "Nodes", columns, count: nodes.name.length, open: (row) => Q.openNode(run, row) });
};

Q.preempted = (run) => {
  const rows = run.preempted;
  const section = Q.section("preempted", "Preempted pods");
  const table = Q.table({
    title: "Preempted pods", count: rows.length,
    columns: [["Pod", 0], ["For", 1], ["Node", 2]].map(([title, index]) => ({ title, text: (row) => rows[row][index] }))
      .concat([{ title: "After", number: true, text: (row) => Q.time(rows[row][3]), key: (row) => rows[row][3] }]),
  });
  section.querySelector(".controls").append(...table.controls.filter(Boolean));
  section.append(table.grid);
  return section;
};

Q.tabled = (id, title, table) => {
  const section = Q.section(id, title, ...table.controls.filter(Boolean));
  section.classList.add("long");
  section.append(table.grid);
  return section;
};

// What a cell counts as in its column's order: amounts of all kinds as numbers.
Q.measured = (cell) => {
  if (typeof cell === "number") return cell;
  const plain = /^([+-]?[\d,]*\.?\d+) ?%?( ±.*| \*)?$/.exec(cell);
  if (plain) return Number(plain[1].replaceAll(",", ""));
  const span = /^(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(cell);
  if (!span) return null;
  const [days, hours, minutes, seconds] = span.slice(1).map((one) => Number(one || 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
};

Q.given = ({ title, columns, rows, failed }, index) => {
  const empty = (cell) => cell === null || cell === "-" || cell === "";
  const number = (one) => rows.every((row) => empty(row[one]) || Q.measured(row[one]) !== null) && rows.some((row) => !empty(row[one]));
  const bad = new Set(failed);
  const cells = columns.map((name, one) => {
    const counts = number(one);
    const key = (row) => (counts ? Q.measured(rows[row][one] ?? "") : rows[row][one]);
    return { title: name, number: counts, text: (row) => String(rows[row][one] ?? "–"), key, class: (row) => (one === 0 && bad.has(row) ? "failed" : "") };
  });
  return Q.tabled(`table-${index}`, title, Q.table({ title, columns: cells, count: rows.length, searchable: rows.length > 8, whole: rows.length <= 40 }));
};

Q.mapSection = (run) => {
  const map = Q.map(run, (node) => Q.openNode(run, node));
  const section = Q.section("map", "Nodes", ...map.controls);
  section.append(...map.parts);
  return section;
};

// The maps of two states of one cluster, side by side; each has its own controls.
Q.mapsSection = (states) => {
  const section = Q.section("map", "Nodes before and after");
  const sides = states.map((run) => {
    const map = Q.map(run, (node) => Q.openNode(run, node));
    return Q.el("div", {}, Q.el("h3", {}, run.name), Q.el("div", { class: "chips controls" }, ...map.controls), ...map.parts);
  });
  section.append(Q.el("div", { class: "sides" }, ...sides));
  return section;
};

// All that is shown of one run, or of the state after a step beside the one before.
Q.runSections = (run, before) => {
  const pods = Q.podTable(run);
  const podSection = Q.tabled("pods", "Pods", pods);
  const mapSection = before ? Q.mapsSection([before, run]) : Q.mapSection(run);
  const nodes = Q.nodeTable(run);
  const nodeSection = Q.tabled("nodes", "Nodes in numbers", nodes);
  // Shows only some rows of a table, and goes there.
  const narrow = (table, section) => (words, keeps) => {
    table.narrow(words, keeps);
    section.scrollIntoView({ block: "start" });
    table.grid.focus();
  };
  const tables = { pods: narrow(pods, podSection), nodes: narrow(nodes, nodeSection) };
  const shares = run.podCount ? Q.shareSections(run, tables) : [];
  const sections = [Q.summary(run), mapSection, Q.causes(run, tables), ...shares, podSection, nodeSection];
  if (run.preempted.length) sections.push(Q.preempted(run));
  const notices = Q.listed("notices", "What was left out or assumed", run.notices);
  return notices ? [...sections, notices] : sections;
};

Q.chartSection = (runs) => {
  const charts = Q.charts(runs);
  const section = Q.section("charts", "Over time", ...charts.controls);
  section.append(charts.box);
  return { section, paint: charts.paint };
};

Q.themePicker = () => {
  let saved = "auto";
  try { saved = localStorage.getItem("quaymaster-theme") || "auto"; } catch { saved = "auto"; }
  const choose = (name) => {
    try { localStorage.setItem("quaymaster-theme", name); } catch { /* nothing is stored for files */ }
    Q.theme(name);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Q.theme(picker.querySelector("select").value));
  const picker = Q.picker("Theme", [["auto", "as the system"], ["light", "light"], ["dark", "dark"]], saved, choose);
  Q.theme(saved);
  return picker;
};

// Shows a document in an element: the whole report, or what the live page has run.
Q.show = (host, data, ...before) => {
  Q.onTheme.length = 0;
  const runs = data.runs.map(Q.opened);
  if (data.suggestions) runs.at(-1).suggestions = data.suggestions;
  const main = Q.el("main", { id: "content", tabindex: -1 });
  const { replay } = data;
  if (replay) before.push(...Q.replaySections(replay), Q.listed("notices", "What was left out or assumed", replay.notices));
  const charts = runs.length ? Q.chartSection(data.steps ? runs.slice(-1) : runs) : null;
  const fill = (index) => {
    Q.onTheme.length = 0;
    Q.onPrint.length = 0;
    const parts = runs.length ? Q.runSections(runs[index], data.steps ? runs[index - 1] : undefined) : [];
    if (charts) {
      Q.onTheme.push(charts.paint);
      parts.splice(parts.findIndex((part) => part.id === "pods"), 0, charts.section);
    }
    if (runs.length > 1) parts.unshift(Q.differences(runs));
    const given = data.tables.map((table, index) => [table.last, Q.given(table, index)]);
    const those = (last) => given.filter(([where]) => where === last).map(([, section]) => section);
    main.replaceChildren(...before.filter(Boolean), ...those(false), ...parts, ...those(true));
  };
  const names = runs.map((run, index) => [String(index), run.name || `run ${index + 1}`]);
  const first = data.steps ? Math.max(0, runs.length - 1) : 0;
  const pick = runs.length > 1 ? Q.picker(data.steps ? "State" : "Run", names, String(first), (value) => fill(Number(value))) : null;
  host.replaceChildren(
    Q.el("header", { class: "top" }, Q.el("h1", {}, data.title),
      Q.el("div", { class: "chips tools" }, [pick, Q.themePicker(), Q.el("button", { type: "button", onclick: () => print() }, "Print")].filter(Boolean))),
    main,
    Q.el("footer", {}, `Quaymaster ${data.version}. ${replay ? "Times are since the beginning of the record." : "Times are virtual: since the beginning of the simulation."}`));
  fill(first);
  const { dataset } = document.documentElement;
  dataset.ready = "tables";
  requestAnimationFrame(() => setTimeout(() => performance.mark("usable")));
  Q.later(async () => {
    if (charts) await charts.paint();
    performance.mark("complete");
    dataset.ready = "charts";
  });
};

if (document.getElementById("data")) {
  Q.read().then((data) => Q.show(document.getElementById("page"), data)).catch((error) => {
    document.getElementById("page").replaceChildren(Q.el("p", { class: "broken", role: "alert" }, `This report cannot be shown: ${error.message}`));
  });
}
