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

Q.charts = (runs) => {
  const paints = [0, 1, 2, 3, 4, 5].map((number) => `--c${number}`);
  const first = Q.el("div", { class: "chart" });
  const second = Q.el("div", { class: "chart" });
  const box = Q.el("div", { class: "charts" },
    Q.el("div", {}, Q.el("h3", {}, "Requested, of what nodes offer"), first),
    Q.el("div", {}, Q.el("h3", {}, "Pods that wait"), second));
  // Most simulations place all at the beginning: against time that is one upright line.
  const moves = runs.some((run) => new Set(run.samples.at).size >= 10);
  let axis = moves ? "at" : "attempts";

  const figure = (title) => {
    const [text, soft, line] = ["--text", "--soft", "--line"].map(Q.style);
    const plot = Bokeh.Plotting.figure({
      height: 260, sizing_mode: "stretch_width", tools: "xpan,xwheel_zoom,box_zoom,reset,hover", toolbar_location: "right",
      background_fill_color: null, border_fill_color: null, outline_line_color: line,
      x_axis_label: axis === "at" ? "seconds of virtual time" : "attempts", y_axis_label: title,
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

  const draw = (host, title, lines) => {
    const plot = figure(title);
    const keys = [];
    runs.forEach((run, index) => {
      lines(run).forEach(([name, values], number) => {
        const source = new Bokeh.ColumnDataSource({ data: { x: run.samples[axis], y: values } });
        plot.step({ field: "x" }, { field: "y" }, "after", {
          source, line_width: 2, line_dash: dashes[index % dashes.length],
          line_color: Q.style(paints[number % paints.length]),
        });
        keys.push(Q.el("span", {}, Q.el("i", { class: `line ${dashes[index % dashes.length]}`, style: `color:var(${paints[number % paints.length]})` }), named(run, index, name)));
      });
    });
    host.replaceChildren(Q.el("div", { class: "legend" }, keys));
    Bokeh.Plotting.show(plot, host);
  };

  const shares = (run) => run.resources.slice(0, -1)
    .map((name, one) => [name, run.samples.requested[one].map((asked, at) => {
      const offered = run.samples.allocatable[one][at];
      return offered ? Math.round((asked / offered) * 10000) / 100 : 0;
    })])
    .filter(([, values], one) => one < 2 || values.some((value) => value > 0));

  const queues = (run) => [
    ["about to be tried", run.samples.active], ["in backoff", run.samples.backoff],
    ["waiting for an event", run.samples.unschedulable], ["waiting on Permit", run.samples.waiting],
  ].filter(([, values], one) => one < 3 || values.some(Boolean));

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
    } catch (error) {
      box.replaceChildren(Q.el("p", { class: "note", role: "alert" }, `The charts could not be drawn: ${error.message || "their library was not loaded"}.`));
    }
  };
  const controls = [Q.picker("Against", [["at", "virtual time"], ["attempts", "attempts"]], axis, (value) => { axis = value; paint(); })];
  Q.onTheme.push(paint);
  return { box, controls, paint };
};
