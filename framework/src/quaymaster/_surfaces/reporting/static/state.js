"use strict";
// The state of the cluster: the headline, the totals, and what pending pods need.
Q.summary = (run) => {
  const { summary, nodes, pods } = run;
  const section = Q.section("summary", "Cluster");
  const tile = (value, words, tone) => Q.el("div", { class: `tile ${tone || ""}` }, Q.el("b", {}, value), Q.el("span", {}, words));
  const finished = pods.state.values.indexOf("finished");
  const running = pods.node.filter((node, row) => node >= 0 && pods.state.codes[row] !== finished).length;
  const alive = pods.state.codes.filter((code) => code !== finished).length;
  const closed = nodes.closed.codes.filter((code) => nodes.closed.values[code]).length;
  if (run.headline.length) section.append(Q.el("p", { class: "headline" }, `${run.headline.join("; ")}.`));
  section.append(Q.el("div", { class: "tiles" },
    tile(Q.number(running), `of ${Q.counted(alive, "pod")} ${alive === 1 ? "has" : "have"} a node`, running === alive ? "good" : ""),
    tile(Q.number(summary.unscheduled), "without a node", summary.unscheduled ? "bad" : ""),
    tile(Q.number(nodes.name.length), nodes.name.length === 1 ? "node" : "nodes"),
    closed ? tile(Q.number(closed), closed === 1 ? "of them accepts no pods" : "of them accept no pods", "bad") : null,
    summary.pods ? tile(Q.number(summary.placed), `of ${Q.counted(summary.pods, "pod")} placed in this run`) : null,
    summary.preempted ? tile(Q.number(summary.preempted), "preempted") : null,
    summary.makespan ? tile(Q.time(summary.makespan), "of virtual time until the last") : null));
  const bars = run.resources.map((name, one) => {
    const offered = run.total(run.nodes.allocatable[one]);
    const asked = run.total(run.nodes.requested[one]);
    const share = offered ? asked / offered : 0;
    return [Q.el("span", {}, name), Q.el("div", { class: "bar", "aria-hidden": "true" }, Q.el("i", { style: `width:${Math.min(100, share * 100)}%` })),
      Q.el("span", { class: "amount" }, `${Q.amount(name, asked)} of ${Q.amount(name, offered)} (${Q.percent(share)})`)];
  });
  section.append(Q.el("div", { class: "bars", role: "group", "aria-label": "What is requested" }, bars.flat()));
  return section;
};

// What pending pods need, with their workloads and the nodes where they may run.
Q.needs = (run, tables) => {
  const most = Math.max(1, ...run.needs.map((need) => need.pods.length));
  const bar = (share) => Q.el("div", { class: "bar", "aria-hidden": "true" }, Q.el("i", { style: `width:${share * 100}%` }));
  const rows = run.needs.slice(0, 12).map((need) => {
    const pods = new Set(need.pods);
    const nodes = new Set(need.nodes);
    const changes = run.suggestions ? Q.changesFor(run, need.pods) : [];
    return Q.el("li", { class: "need" },
      Q.link(need.words, () => tables.pods(need.words, (row) => pods.has(row))), bar(need.pods.length / most),
      Q.el("div", { class: "amount" }, nodes.size
        ? ["They may run on ", Q.link(Q.counted(nodes.size, "node"), () => tables.nodes(`for: ${need.words}`, (row) => nodes.has(row))), "."] : "No node that accepts pods is large enough and has the labels and taints that they need."),
      Q.ownerList(run, need.pods, tables),
      changes.length ? Q.el("div", { class: "amount" }, "Placed by ", changes.flatMap((change, index) => (index ? [", ", change] : [change])), ".") : null);
  });
  return Q.el("ol", { class: "needs" }, rows);
};

Q.causes = (run, tables) => {
  const counts = new Map();
  run.pods.cause.codes.forEach((code) => {
    const cause = run.pods.cause.values[code];
    if (cause) counts.set(cause, (counts.get(cause) || 0) + 1);
  });
  const section = Q.section("causes", "Why pods are pending");
  const ordered = [...counts].sort((a, b) => b[1] - a[1]);
  if (!ordered.length) {
    section.append(Q.el("p", { class: "note" }, run.podCount ? "Every pod has a node." : "There are no pods."));
    return section;
  }
  const most = ordered[0][1];
  const narrow = (cause) => () => tables.pods(cause, (row) => Q.at(run.pods.cause, row) === cause);
  const rows = ordered.slice(0, 12).flatMap(([cause, count]) => [
    Q.el("button", { type: "button", class: "link", onclick: narrow(cause) }, cause),
    Q.el("div", { class: "bar", "aria-hidden": "true" }, Q.el("i", { style: `width:${(count / most) * 100}%` })),
    Q.el("span", { class: "amount" }, Q.counted(count, "pod")),
  ]);
  if (run.needs.length) section.append(Q.needs(run, tables));
  section.append(...Q.suggestions(run, tables));
  section.append(Q.el("h3", {}, "Reasons of the scheduler"), Q.el("div", { class: "bars causes" }, rows));
  if (ordered.length > 12) section.append(Q.el("p", { class: "note" }, `and ${ordered.length - 12} other causes`));
  return section;
};
