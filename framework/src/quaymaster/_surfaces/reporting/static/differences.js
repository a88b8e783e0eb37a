"use strict";
// What became of the same pods in two runs, where it differs.
Q.differences = (runs) => {
  const section = Q.section("differences", "Decisions that differ");
  const host = Q.el("div");
  const name = (index) => runs[index].name || `run ${index + 1}`;
  let picked = [0, 1];

  const place = (run, row) => (row === undefined ? "not there" : run.pods.node[row] >= 0 ? run.nodes.name[run.pods.node[row]] : Q.at(run.pods.state, row));

  const found = () => {
    const [a, b] = picked.map((index) => runs[index]);
    const keys = [...new Set([...a.rowOf.keys(), ...b.rowOf.keys()])];
    return keys
      .map((key) => ({ key, a: a.rowOf.get(key), b: b.rowOf.get(key) }))
      .map((one) => ({ ...one, first: place(a, one.a), second: place(b, one.b), at: Q.decided(a, one.a, b, one.b) }))
      .filter((one) => one.first !== one.second)
      .sort((x, y) => x.at - y.at);
  };

  const side = (index, row) => {
    const run = runs[index];
    if (row === undefined) return Q.el("div", {}, Q.el("h3", {}, name(index)), Q.el("p", {}, "The pod is not there."));
    const attempts = run.attemptsOf.get(run.key(row)) || [];
    const full = Q.el("button", { type: "button", class: "link", onclick: () => Q.openPod(run, row) }, "All of it");
    return Q.el("div", {}, Q.el("h3", {}, `${name(index)}: ${place(run, row)}`), Q.at(run.pods.message, row), ...(attempts.length ? Q.attempt(attempts.at(-1)) : Q.notKept(run, row, run.key(row))), Q.el("p", {}, full));
  };

  const paint = () => {
    const rows = found();
    const table = Q.table({
      title: "Decisions that differ", count: rows.length,
      open: (row) => Q.dialog(`Pod ${rows[row].key}`, Q.el("div", { class: "sides" }, side(picked[0], rows[row].a), side(picked[1], rows[row].b))),
      columns: [
        { title: "Pod", text: (row) => rows[row].key, open: true },
        { title: name(picked[0]), text: (row) => rows[row].first },
        { title: name(picked[1]), text: (row) => rows[row].second },
        { title: "First decided", text: (row) => Q.time(rows[row].at), key: (row) => rows[row].at, number: true },
      ],
    });
    const all = new Set(picked.flatMap((index) => [...runs[index].rowOf.keys()])).size;
    host.replaceChildren(Q.el("p", { class: "note" }, `${Q.number(rows.length)} of ${Q.counted(all, "pod")} ended elsewhere. The first to be decided comes first; a click shows both decisions side by side.`),
      Q.el("div", { class: "chips controls fields" }, table.controls), table.grid);
  };

  const options = runs.map((_, index) => [String(index), name(index)]);
  const choose = (slot) => (value) => { picked[slot] = Number(value); paint(); };
  section.querySelector(".controls").append(Q.picker("Compare", options, "0", choose(0)), Q.picker("with", options, "1", choose(1)));
  section.append(host);
  paint();
  return section;
};

// When the earlier of two decisions was made; pods without any come last.
Q.decided = (a, x, b, y) => {
  const times = [[a, x], [b, y]].map(([run, row]) => (row === undefined ? null : run.pods.bound[row])).filter((one) => one !== null);
  return times.length ? Math.min(...times) : Infinity;
};
