"use strict";
// What there is to see of one pod or one node, in a dialog.
Q.dialog = (title, ...content) => {
  const close = Q.el("button", { type: "button", onclick: () => box.close() }, "Close");
  const box = Q.el("dialog", { "aria-label": title },
    Q.el("div", { class: "bar-top" }, Q.el("h2", {}, title), close), Q.el("div", { class: "body" }, ...content));
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  document.body.append(box);
  box.showModal();
  return box;
};

Q.facts = (pairs) => Q.el("dl", {}, pairs.filter(([, value]) => value !== "" && value !== null).flatMap(([name, value]) => [Q.el("dt", {}, name), Q.el("dd", {}, value)]));

const VIEWS = [["2", "final scores: × weight"], ["1", "normalised scores"], ["0", "plugins' own scores"]];

// Lets a long name of a plugin break where its words do.
Q.breakable = (name) => name.replace(/([a-z])([A-Z])/g, "$1\u200b$2");

// Scores of nodes by plugin; marks say behind a node's name what it is.
Q.scores = (attempt, marks) => {
  const host = Q.el("div");
  const shown = (view) => {
    const columns = ["Node", "Total", ...attempt.plugins.map(Q.breakable)];
    const rows = attempt.scores.map(([node, total, values]) => ({
      cells: [marks[node] ? `${node} ${marks[node]}` : node, total, ...values.map((one) => (one ? one[view] : "–"))],
      class: marks[node] ? "winner" : "",
    }));
    host.replaceChildren(Q.small(columns, rows, columns.map((_, index) => index).slice(1)));
  };
  shown(2);
  return Q.el("div", {}, Q.el("div", { class: "controls" }, Q.picker("Show the ", VIEWS, "2", (value) => shown(Number(value)))), host);
};

Q.attempt = (attempt) => {
  const parts = [Q.el("h3", {}, `Attempt ${attempt.number}, after ${Q.time(attempt.at)}: `, Q.el("span", { class: `state-${attempt.outcome}` }, attempt.outcome + (attempt.node ? ` on ${attempt.node}` : "")))];
  if (attempt.message) parts.push(Q.el("p", {}, attempt.message));
  if (attempt.nominated) parts.push(Q.el("p", {}, `Nominated to ${attempt.nominated}.`));
  if (attempt.preempted.length) parts.push(Q.el("p", {}, `Preempted ${attempt.preempted.join(", ")}.`));
  if (attempt.rejected.length) {
    // The facts are those of the first node; the first fact holds for similar nodes, too.
    const why = (reasons, facts) => Q.el("div", {}, reasons.join(", ") || "not looked at", facts.map((fact) => Q.el("div", { class: "note" }, fact)));
    const rows = attempt.rejected.map(([plugin, reasons, nodes, names, facts]) => [Q.number(nodes), plugin || "PreFilter", why(reasons, facts), names.join(", ") + (nodes > names.length ? ", …" : "")]);
    parts.push(Q.el("h3", {}, "Filter: nodes that were rejected"), Q.small(["Nodes", "Rejected by", "Reasons", "Such as"], rows, [0]));
  }
  if (attempt.scores.length) {
    const left = attempt.feasible - attempt.scores.length;
    parts.push(Q.el("h3", {}, `Score: ${Q.counted(attempt.feasible, "node")} would have done`), Q.scores(attempt, { [attempt.node]: "← picked" }));
    if (left > 0) parts.push(Q.el("p", { class: "note" }, `The picked node and the best others are kept, ${Q.number(left)} are not.`));
  }
  return parts;
};

// Who can explain what is not kept: the live page sets it.
Q.explainer = null;

Q.openPod = (run, row) => {
  const { pods, nodes } = run;
  const key = run.key(row);
  const node = pods.node[row];
  const attempts = run.attemptsOf.get(key) || [];
  const requests = run.resources.slice(0, -1).map((name, one) => [name, pods.requests[one][row]]).filter(([, amount]) => amount).map(([name, amount]) => `${name} ${Q.amount(name, amount)}`);
  const facts = Q.facts([
    ["State", Q.at(pods.state, row)],
    ["Node", node >= 0 ? Q.el("button", { type: "button", class: "link", onclick: () => Q.openNode(run, node) }, nodes.name[node]) : ""],
    ["Why", Q.at(pods.message, row)],
    ["Workload", Q.at(pods.workload, row)],
    ["PodGroup", pods.group ? Q.at(pods.group, row) : ""],
    ["Requests", requests.join(", ") || "nothing"],
    ["Priority", pods.priority[row] ? String(pods.priority[row]) : ""],
    ["Created", Q.time(pods.created[row])],
    ["Bound", pods.bound[row] === null ? "" : Q.time(pods.bound[row])],
    ["Ended", pods.finished[row] === null ? "" : Q.time(pods.finished[row])],
    ["Attempts", String(pods.attempts[row])],
  ]);
  const told = Q.el("div", {}, attempts.flatMap(Q.attempt));
  if (attempts.length < pods.attempts[row]) {
    told.append(...Q.notKept(run, row, key));
    if (Q.explainer) told.append(Q.el("p", {}, Q.el("button", { type: "button", class: "primary", onclick: () => Q.explainer(run, key, told) }, "Explain every attempt")));
  }
  Q.dialog(`Pod ${key}`, facts, told);
};

Q.notKept = (run, row, key) => {
  const { pods } = run;
  const kept = (run.attemptsOf.get(key) || []).length;
  const parts = [Q.el("p", { class: "note" }, kept ? "Of its attempts, these are kept." : "None of its attempts was taken apart: a large run keeps the first ones, and then the attempts 1, 2, 4, 8, … of each workload.")];
  const workload = pods.workload.codes[row];
  const like = Q.at(pods.workload, row) && !kept
    ? run.attempts.map((one) => run.rowOf.get(one.pod)).find((other) => other !== undefined && pods.workload.codes[other] === workload && pods.namespace.codes[other] === pods.namespace.codes[row]) : undefined;
  if (like !== undefined) parts.push(Q.el("p", {}, "Of the same workload there is ", Q.el("button", { type: "button", class: "link", onclick: () => Q.openPod(run, like) }, run.key(like)), "."));
  if (!Q.explainer) parts.push(Q.el("p", {}, "All of them, with every node:"), Q.el("pre", {}, `quaymaster explain ${key} --attempts all INPUT`));
  return parts;
};

Q.openNode = (run, node) => {
  const { nodes, pods } = run;
  const labels = Object.entries(nodes.labels).map(([name, column]) => [name, Q.at(column, node)]).filter(([, value]) => value).map(([name, value]) => `${name}=${value}`);
  const facts = Q.facts([["Status", Q.at(nodes.status, node)], ["Accepts no pods", Q.at(nodes.closed, node)], ["Taints", Q.at(nodes.taints, node)], ["Labels", labels.join(", ")]]);
  const amounts = run.resources.map((name, one) => [name, Q.amount(name, nodes.allocatable[one][node]), Q.amount(name, nodes.requested[one][node]), Q.amount(name, nodes.allocatable[one][node] - nodes.requested[one][node]), Q.percent(run.share(one, node))]);
  const rows = run.podsOn[node];
  const list = rows.map((row) => [
    Q.el("button", { type: "button", class: "link", onclick: () => Q.openPod(run, row) }, run.key(row)),
    Q.amount("cpu", pods.requests[0][row]), Q.bytes(pods.requests[1][row]),
  ]);
  Q.dialog(`Node ${nodes.name[node]}`, facts, Q.small(["Resource", "Offered", "Requested", "Free", "Share"], amounts, [1, 2, 3, 4]),
    Q.el("h3", {}, Q.counted(rows.length, "pod")), Q.small(["Pod", "CPU", "Memory"], list, [1, 2]));
};
