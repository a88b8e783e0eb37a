"use strict";
// What workloads and namespaces request, which share of the nodes that is, and its cost.

// The part of its node that each pod has: that of the resource of which it requests
// most. If the parts of a node add up to more than the whole, they are reduced to it.
Q.nodeParts = (run) => {
  const { nodes, pods, resources } = run;
  const parts = new Float64Array(run.podCount);
  const last = resources.length - 1;
  run.podsOn.forEach((rows, node) => {
    let whole = 0;
    for (const row of rows) {
      const shares = resources.map((_, one) => {
        const offered = nodes.allocatable[one][node];
        return offered ? (one === last ? 1 : pods.requests[one][row]) / offered : 0;
      });
      parts[row] = Math.max(...shares);
      whole += parts[row];
    }
    if (whole > 1) for (const row of rows) parts[row] /= whole;
  });
  return parts;
};

// Sums of the pods that have the same key; the largest share of the nodes comes first.
Q.sums = (run, keyOf) => {
  const { nodes, pods, resources } = run;
  const totals = resources.map((_, one) => run.total(nodes.allocatable[one]));
  const parts = run.isPriced ? Q.nodeParts(run) : null;
  const sums = new Map();
  for (let row = 0; row < run.podCount; row += 1) {
    if (Q.at(pods.state, row) === "finished") continue;
    const key = keyOf(row);
    if (!sums.has(key)) sums.set(key, { key, row, pods: 0, pending: 0, requests: resources.map(() => 0), cost: 0, rows: [] });
    const sum = sums.get(key);
    const node = pods.node[row];
    sum.pods += 1;
    sum.rows.push(row);
    if (node < 0) sum.pending += 1;
    resources.forEach((_, one) => { sum.requests[one] += one < resources.length - 1 ? pods.requests[one][row] : 1; });
    if (parts && node >= 0) sum.cost += parts[row] * (nodes.price[node] || 0);
  }
  for (const sum of sums.values()) sum.share = Math.max(0, ...sum.requests.slice(0, -1).map((amount, one) => (totals[one] ? amount / totals[one] : 0)));
  return [...sums.values()].sort((a, b) => b.share - a.share || b.pods - a.pods);
};

Q.price = (amount) => String(Math.round(amount * 1e4) / 1e4);

Q.shareTable = (run, title, sums, first, open) => {
  const number = (heading, text, key) => ({ title: heading, number: true, text: (row) => text(sums[row]), key: (row) => key(sums[row]) });
  const shown = run.resources.slice(0, -1).map((name, one) => [name, one]).filter(([, one]) => one < 2 || sums.some((sum) => sum.requests[one]));
  const columns = [
    ...first,
    number("Pods", (sum) => Q.number(sum.pods), (sum) => sum.pods),
    sums.some((sum) => sum.pending) && { ...number("Pending", (sum) => (sum.pending ? Q.number(sum.pending) : "–"), (sum) => sum.pending), class: (row) => (sums[row].pending ? "state-pending" : "") },
    ...shown.map(([name, one]) => number(name, (sum) => Q.amount(name, sum.requests[one]), (sum) => sum.requests[one])),
    number("Share", (sum) => Q.percent(sum.share), (sum) => sum.share),
    run.isPriced && number("Cost per hour", (sum) => Q.price(sum.cost), (sum) => sum.cost),
  ].filter(Boolean);
  return Q.table({ title, columns, count: sums.length, open, searchable: sums.length > 8 });
};

Q.shareSections = (run, tables) => {
  const note = `Requests of pods that have not ended. Share: the largest of their parts of what all nodes offer, by resource.${run.isPriced ? " Cost: the price of each node, divided among its pods by the largest part that each requests; the rest is idle." : ""}`;
  const workloads = Q.sums(run, (row) => `${Q.at(run.pods.namespace, row)}/${run.workloadOf(row)}`);
  const namespaces = Q.sums(run, (row) => Q.at(run.pods.namespace, row));
  const keep = (sum) => {
    const rows = new Set(sum.rows);
    return (row) => rows.has(row);
  };
  const opening = (sums) => (row) => tables.pods(sums[row].key, keep(sums[row]));
  const named = (sums) => ({ title: "Workload", text: (row) => run.workloadOf(sums[row].row), open: true });
  const space = (sums, open) => ({ title: "Namespace", text: (row) => Q.at(run.pods.namespace, sums[row].row), open });
  const section = (id, title, table) => {
    const made = Q.tabled(id, title, table);
    made.append(Q.el("p", { class: "note" }, note));
    return made;
  };
  const parts = [section("workloads", "Workloads", Q.shareTable(run, "Workloads", workloads, namespaces.length > 1 ? [named(workloads), space(workloads)] : [named(workloads)], opening(workloads)))];
  if (namespaces.length > 1) parts.push(section("namespaces", "Namespaces", Q.shareTable(run, "Namespaces", namespaces, [space(namespaces, true)], opening(namespaces))));
  return parts;
};
