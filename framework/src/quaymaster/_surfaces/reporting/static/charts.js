"use strict";
// Time series, drawn by Bokeh, whose script is not run before the rest can be used.
let library = null;
Q.library = () => {
  library ||= globalThis.Bokeh ? Promise.resolve() : Q.fetched();
  return library;
};

// The script is in the page, packed, or served beside it.
Q.fetched = async () => {
  const packed = document.getElementById("library");
  if (packed) {
    document.head.append(Q.el("script", {}, await Q.unpacked(packed)));
    return;
  }
  await new Promise((done, failed) => {
    document.head.append(Q.el("script", { src: "charts.js", onload: done, onerror: failed }));
  });
};

// Gives a chart a name for screen readers, and what is focused in it as well.
Q.named = async (shown, frame, name) => {
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", name);
  await shown;
  const focused = (root) => [...root.querySelectorAll("*")].flatMap((node) => [
    ...(node.tabIndex >= 0 && node.hasAttribute("tabindex") ? [node] : []), ...(node.shadowRoot ? focused(node.shadowRoot) : [])]);
  for (const node of focused(frame)) {
    node.setAttribute("role", node.getAttribute("role") || "group");
    node.setAttribute("aria-label", node.getAttribute("aria-label") || name);
  }
};

Q.charts = (runs) => {
  const paints = [0, 1, 2, 3, 4, 5].map((number) => `--c${number}`);
  const first = Q.el("div", { class: "chart", "data-title": "Requested, of what nodes offer" });
  const second = Q.el("div", { class: "chart", "data-title": "Pods that wait" });
  const titled = (host) => Q.el("div", {}, Q.el("h3", {}, host.dataset.title), host);
  // An autoscaler has two more, always against time: its nodes and their price, by group.
  const scaled = runs.some((run) => run.scaled) ? [["Nodes of the autoscaler", "nodes"], ["Price per hour of these nodes", "price"]]
    .map(([title, key]) => [Q.el("div", { class: "chart", "data-title": title }), key]) : [];
  const box = Q.el("div", { class: "charts" }, titled(first), titled(second), ...scaled.map(([host]) => titled(host)));
  // Most simulations place all at the beginning: against time that is one upright line.
  const moves = runs.some((run) => new Set(run.samples.at).size >= 3);
  let axis = moves ? "at" : "attempts";
  const [unit, seconds] = Q.timeUnit(Math.max(...runs.map((run) => run.samples.at.at(-1) || 0)));
  const along = ({ samples }) => (axis === "at" ? samples.at.map((at) => at / seconds) : samples.attempts);
  // Against time only what lasts is drawn: of all samples of one moment the last.
  const drawn = ({ samples: { at } }) => (values) => (axis === "at" ? values.filter((_, one) => at[one] !== at[one + 1]) : values);

  const figure = (title, top, label) => {
    const [text, soft, line] = ["--text", "--soft", "--line"].map(Q.style);
    const plot = Bokeh.Plotting.figure({
      y_range: [-0.02 * top, top], height: 260, sizing_mode: "stretch_width", tools: "xpan,xwheel_zoom,box_zoom,reset,hover", toolbar_location: "right",
      background_fill_color: null, border_fill_color: null, outline_line_color: line,
      x_axis_label: label, y_axis_label: title,
    });
    plot.toolbar.logo = null;
    plot.toolbar.autohide = true;
    for (const one of [plot.xaxis, plot.yaxis].flat()) {
      Object.assign(one, {
        axis_label_text_color: soft, major_label_text_color: text, axis_line_color: line,
        major_tick_line_color: line, minor_tick_line_color: null, axis_label_text_font_style: "normal",
      });
    }
    for (const one of [plot.xgrid, plot.ygrid].flat()) one.grid_line_color = line;
    return plot;
  };

  const dashes = ["solid", "dashed", "dotted", "dotdash"];
  const named = (run, index, name) => (runs.length > 1 ? `${run.name || index + 1}: ${name}` : name);

  const time = `${unit} of virtual time`;
  const draw = (host, title, lines) => {
    const shown = runs.map((run) => lines(run).map(([name, values, number]) => [name, drawn(run)(along(run)), drawn(run)(values), number]));
    drawLines(host, title, shown, axis === "at" ? time : "attempts");
  };
  const byGroup = (key) => runs.map((run) => (run.scaled || [])
    .filter((group) => group[key]).map((group, number) => [group.name, group.at.map((at) => at / seconds), group[key], number]));

  const drawLines = (host, title, shown, label) => {
    const top = shown.flatMap((each) => each.flatMap(([, , values]) => values)).reduce((most, value) => Math.max(most, value), 0);
    const plot = figure(title, top * 1.05 || 5, label);
    const keys = [];
    runs.forEach((run, index) => {
      shown[index].forEach(([name, x, y, number]) => {
        const source = new Bokeh.ColumnDataSource({ data: { x, y } });
        plot.step({ field: "x" }, { field: "y" }, "after", {
          source, line_width: 2, line_dash: dashes[index % dashes.length],
          line_color: Q.style(paints[number % paints.length]),
        });
        keys.push(Q.el("span", {}, Q.el("i", { class: `line ${dashes[index % dashes.length]}`, style: `color:var(${paints[number % paints.length]})` }), named(run, index, name)));
      });
    });
    // It is shown a moment later: in a box of its own, which goes if another is drawn.
    const frame = Q.el("div");
    host.replaceChildren(Q.el("div", { class: "legend" }, keys), frame);
    Q.named(Bokeh.Plotting.show(plot, frame), frame, `${host.dataset.title}: ${keys.map((key) => key.textContent).join(", ")}`);
  };

  const shares = (run) => run.resources.slice(0, -1)
    .map((name, one) => [name, run.samples.requested[one].map((asked, at) => {
      const offered = run.samples.allocatable[one][at];
      return offered ? Math.round((asked / offered) * 10000) / 100 : 0;
    }), one])
    .filter(([, values], one) => one < 2 || values.some((value) => value > 0));

  // A queue is shown if some run has pods in it; their sum, if there are several.
  const names = [["about to be tried", "active"], ["in backoff", "backoff"], ["waiting for an event", "unschedulable"], ["waiting on Permit", "waiting"]];
  const queues = (run) => {
    const used = names.map((name, number) => [...name, number])
      .filter(([, key]) => runs.some((one) => drawn(one)(one.samples[key]).some(Boolean)));
    const shown = used.map(([name, key, number]) => [name, run.samples[key], number]);
    const sum = run.samples.at.map((_, at) => used.reduce((all, [, key]) => all + run.samples[key][at], 0));
    return used.length === 1 ? shown : [["in all", sum, names.length], ...shown];
  };

  const paint = async () => {
    if (runs.every((run) => run.samples.at.length < 2)) {
      box.replaceChildren(Q.el("p", { class: "note" }, "Nothing happened."));
      return;
    }
    try {
      await Q.library();
      box.dataset.drawn = document.documentElement.dataset.theme;
      draw(first, "%", shares);
      draw(second, "pods", queues);
      for (const [host, key] of scaled) drawLines(host, key === "nodes" ? "nodes" : "per hour", byGroup(key), time);
    } catch (error) {
      box.replaceChildren(Q.el("p", { class: "note", role: "alert" }, `The charts could not be drawn: ${error.message || "their library was not loaded"}.`));
    }
  };
  const controls = [Q.picker("Against", [["at", "virtual time"], ["attempts", "attempts"]], axis, (value) => { axis = value; paint(); })];
  Q.onTheme.push(paint);
  return { box, controls, paint };
};
