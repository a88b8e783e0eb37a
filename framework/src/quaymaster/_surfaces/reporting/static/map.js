"use strict";
// The map of the cluster: a canvas with a cell for each node, filled by a resource.
Q.ZONE = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];
Q.TYPE = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
Q.GROUP = [
  "karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool",
  "kubernetes.azure.com/agentpool", "node.kubernetes.io/instance-type", "node-role.kubernetes.io/control-plane",
];

Q.map = (run, open) => {
  const { nodes } = run;
  const count = nodes.name.length;
  const labels = Object.keys(nodes.labels);
  const known = (list) => list.find((key) => labels.includes(key)) || "";
  const last = run.resources.length - 1;
  let resource = 0;
  let by = [known(Q.GROUP), known(Q.ZONE)];
  let cells = [];
  let size = 10;
  let focus = -1;
  // The PodGroup whose nodes are framed.
  let marked = "";
  const podGroups = run.pods.group ? run.pods.group.values.filter(Boolean) : [];
  const isMarked = (node) => marked !== "" && run.podsOn[node].some((row) => Q.at(run.pods.group, row) === marked);

  const canvas = Q.el("canvas", { tabindex: 0, role: "application", "aria-label": "Map of the nodes: arrow keys move from node to node, Enter opens one" });
  const box = Q.el("div", { class: "map" }, canvas);
  const tip = Q.el("div", { class: "tip", hidden: true });
  const spoken = Q.el("p", { class: "hidden", role: "status" });

  const share = (node) => (resource > last
    ? Math.max(...run.resources.map((_, one) => run.share(one, node))) : run.share(resource, node));

  const group = (node) => by.filter(Boolean).map((key) => Q.at(nodes.labels[key], node) || "–").join(" · ");

  const grouped = () => {
    const groups = new Map();
    for (let node = 0; node < count; node += 1) {
      const name = group(node);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(node);
    }
    return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  };

  const TITLE = 20;
  const GAP = 18;

  // Blocks of groups side by side, in rows; as large as fits the height that is wanted.
  const arrange = (groups, width, cell) => {
    const placed = [];
    let x = 0;
    let y = 0;
    let tallest = 0;
    for (const [name, members] of groups) {
      const most = Math.max(1, Math.floor(width / cell));
      const title = Math.ceil(Math.min((name.length + 8) * 6.8, width) / cell);
      const wanted = groups.length > 1 ? Math.max(Math.ceil(Math.sqrt(members.length * 2.2)), Math.min(members.length, 8)) : most;
      const across = Math.min(most, Math.max(wanted, title), Math.max(members.length, title));
      const down = Math.ceil(members.length / across);
      if (x && x + across * cell > width) {
        x = 0;
        y += tallest + GAP;
        tallest = 0;
      }
      placed.push({ name, members, x, y, across });
      x += across * cell + GAP;
      tallest = Math.max(tallest, TITLE + down * cell);
    }
    return { placed, height: y + tallest + 2 };
  };

  const fit = (groups, width) => {
    // On a narrow screen each group has a row of its own, so the map may be higher.
    const highest = width < 600 ? 960 : 480;
    for (const cell of [44, 36, 30, 24, 20, 17, 14, 12, 11, 10, 9, 8, 7, 6]) {
      const found = arrange(groups, width, cell);
      if (found.height <= highest) return { cell, ...found };
    }
    return { cell: 6, ...arrange(groups, width, 6) };
  };

  const colour = (amount) => {
    if (amount > 1.0000001) return Q.style("--over");
    return Q.style(amount > 0.85 ? "--high" : amount > 0.5 ? "--mid" : "--low");
  };

  const paint = () => {
    const width = Math.max(200, box.clientWidth || 1000);
    const groups = grouped();
    const { cell, placed, height } = fit(groups, width);
    size = cell;
    const ratio = devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, width, height);
    const paints = { over: colour(2), high: colour(0.9), mid: colour(0.6), low: colour(0.1) };
    const [empty, edge, text, soft] = ["--empty", "--line", "--text", "--soft"].map(Q.style);
    const inner = cell > 8 ? cell - 2 : cell - 1;
    cells = [];
    for (const { name, members, x, y, across } of placed) {
      pen.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
      pen.fillStyle = soft;
      const words = `${name || "all nodes"} (${members.length})`;
      pen.fillText(words, x, y + 13, Math.max(width - x, 60));
      members.forEach((node, index) => {
        const left = x + (index % across) * cell;
        const top = y + TITLE + Math.floor(index / across) * cell;
        const amount = share(node);
        pen.fillStyle = empty;
        pen.fillRect(left, top, inner, inner);
        const filled = Math.max(amount > 0 ? 1 : 0, Math.round(Math.min(1, amount) * inner));
        pen.fillStyle = amount > 1.0000001 ? paints.over : amount > 0.85 ? paints.high : amount > 0.5 ? paints.mid : paints.low;
        pen.fillRect(left, top + inner - filled, inner, filled);
        if (Q.at(nodes.closed, node)) {
          pen.strokeStyle = text;
          pen.beginPath();
          pen.moveTo(left, top);
          pen.lineTo(left + inner, top + inner);
          pen.stroke();
        }
        if (cell >= 14) {
          pen.strokeStyle = edge;
          pen.strokeRect(left + 0.5, top + 0.5, inner - 1, inner - 1);
        }
        if (isMarked(node)) {
          pen.strokeStyle = Q.style("--accent");
          pen.lineWidth = 2;
          pen.strokeRect(left + 1, top + 1, inner - 2, inner - 2);
          pen.lineWidth = 1;
        }
        cells[node] = [left, top];
      });
    }
    if (focus >= 0) {
      pen.strokeStyle = Q.style("--accent");
      pen.lineWidth = 2;
      pen.strokeRect(cells[focus][0] - 1, cells[focus][1] - 1, inner + 2, inner + 2);
    }
  };

  const state = (node) => Q.at(nodes.status, node) + (Q.at(nodes.closed, node) ? ` (${Q.at(nodes.closed, node)})` : "");

  const describe = (node) => {
    const shares = run.resources.map((name, one) => `${name} ${Q.percent(run.share(one, node))}`);
    const has = isMarked(node) ? `, has pods of ${marked}` : "";
    return `${nodes.name[node]}, ${group(node)}, ${state(node)}${has}: ${shares.join(", ")}`;
  };

  const show = (node, x, y) => {
    const pods = run.podsOn[node];
    const largest = [...pods].sort((a, b) => run.pods.requests[0][b] - run.pods.requests[0][a]).slice(0, 10);
    const lines = run.resources.map((name, one) => Q.el("div", {}, `${name}: ${Q.amount(name, nodes.requested[one][node])} of ${Q.amount(name, nodes.allocatable[one][node])} (${Q.percent(run.share(one, node))})`));
    const list = largest.map((row) => Q.el("li", {}, `${run.key(row)} (${Q.amount("cpu", run.pods.requests[0][row])}, ${Q.bytes(run.pods.requests[1][row])})`));
    if (pods.length > largest.length) list.push(Q.el("li", {}, `and ${pods.length - largest.length} more`));
    tip.replaceChildren(Q.el("b", {}, nodes.name[node]), Q.el("div", {}, `${group(node)} · ${state(node)}`), ...lines, Q.el("ul", {}, list));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - height - 8))}px`;
  };

  const under = (event) => {
    const area = canvas.getBoundingClientRect();
    const x = event.clientX - area.left;
    const y = event.clientY - area.top;
    return cells.findIndex(([left, top]) => x >= left && x < left + size && y >= top && y < top + size);
  };

  canvas.addEventListener("mousemove", (event) => {
    const node = under(event);
    canvas.style.cursor = node >= 0 ? "pointer" : "";
    if (node >= 0) show(node, event.clientX, event.clientY);
    else tip.hidden = true;
  });
  canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
  canvas.addEventListener("click", (event) => {
    const node = under(event);
    if (node >= 0) open(node);
  });

  // The nearest cell in a direction; those of the same row or column come first.
  const next = (key) => {
    const [x, y] = cells[focus];
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const [right, down] = ways[key];
    let best = focus;
    let least = Infinity;
    cells.forEach(([left, top], node) => {
      const along = (left - x) * right + (top - y) * down;
      const aside = Math.abs((left - x) * down) + Math.abs((top - y) * right);
      if (along > 0 && along + 4 * aside < least) {
        best = node;
        least = along + 4 * aside;
      }
    });
    return best;
  };

  canvas.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow") && count) {
      focus = focus < 0 ? 0 : next(event.key);
      paint();
      spoken.textContent = describe(focus);
      const area = canvas.getBoundingClientRect();
      show(focus, area.left + cells[focus][0] + size, area.top + cells[focus][1] + size);
      event.preventDefault();
    } else if (event.key === "Enter" && focus >= 0) {
      event.preventDefault(); // or the same key would press the dialog's button
      tip.hidden = true;
      open(focus);
    } else if (event.key === "Escape") {
      tip.hidden = true;
    }
  });
  canvas.addEventListener("blur", () => { tip.hidden = true; });

  // By the last part of their names, as far as that is theirs alone; names of old
  // versions of Kubernetes are left out where the new one is there.
  const short = (key) => key.slice(key.lastIndexOf("/") + 1);
  const others = (key, among) => among.some((other) => other !== key && short(other) === short(key));
  const offered = labels.filter((key) => !key.includes("beta.kubernetes.io/") || !others(key, labels));
  const options = [["", "nothing"], ...offered.map((key) => [key, others(key, offered) ? key : short(key)])];
  const filled = [...run.resources.map((name, index) => [String(index), name]), [String(last + 1), "the fullest of all"]];
  const controls = [
    Q.picker("Filled by", filled, "0", (value) => { resource = Number(value); paint(); }),
    Q.picker("Grouped by", options, by[0], (value) => { by[0] = value; paint(); }),
    Q.picker("and", options, by[1], (value) => { by[1] = value; paint(); }),
  ];
  if (podGroups.length) {
    const choices = [["", "nothing"], ...podGroups.sort().map((name) => [name, name])];
    controls.push(Q.picker("Marked PodGroup", choices, "", (value) => { marked = value; paint(); }));
  }
  const legend = Q.el("div", { class: "legend" },
    [["--empty", "nothing requested"], ["--low", "up to 50 %"], ["--mid", "up to 85 %"], ["--high", "up to 100 %"], ["--over", "over"]]
      .map(([name, words]) => Q.el("span", {}, Q.el("i", { style: `background:var(${name})` }), words)),
    Q.el("span", {}, "each cell is filled from below; a line across it: it accepts no pods"));
  if (!count) return { controls: [], parts: [Q.el("p", { class: "note" }, "There are no nodes.")], describe };
  let wide = 0;
  new ResizeObserver(() => {
    if (box.clientWidth !== wide) {
      wide = box.clientWidth;
      paint();
    }
  }).observe(box);
  Q.onTheme.push(paint);
  Q.onPrint.push(paint);
  return { controls, parts: [box, legend, tip, spoken], describe };
};
