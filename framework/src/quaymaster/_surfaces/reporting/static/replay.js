"use strict";
// The decisions of a record, made again: how they compare, and why where they do not.
Q.place = (decided) => {
  if (decided.node) return `on ${decided.node}`;
  const parts = [decided.message ? `no node: ${decided.message}` : "no node"];
  if (decided.nominated) parts.push(`Nominated to ${decided.nominated}.`);
  if (decided.preempted.length) parts.push(`Preempts ${decided.preempted.join(", ")}.`);
  return parts.join(" ");
};

Q.replaySections = (replay) => {
  const { decisions } = replay;
  const meanings = new Map(replay.counts.map(([name, meaning]) => [name, meaning]));
  const open = (row) => Q.openDecision(replay, row, meanings);
  const table = Q.table({
    title: "Decisions", count: decisions.pod.length, open,
    columns: [
      { title: "Pod", text: (row) => decisions.pod[row], open: true },
      { title: "After", number: true, text: (row) => Q.time(decisions.at[row]), key: (row) => decisions.at[row] },
      { title: "Compared", text: (row) => Q.at(decisions.agreement, row), class: (row) => `state-${Q.at(decisions.agreement, row)}` },
      { title: "Theirs", text: (row) => Q.at(decisions.theirs, row) || "–" },
      { title: "Ours", text: (row) => Q.at(decisions.ours, row) || "–" },
      { title: "Equally good", number: true, text: (row) => String(decisions.best[row]), key: (row) => decisions.best[row] },
      { title: "Changes away", number: true, text: (row) => (decisions.width[row] ? String(decisions.width[row]) : "–"), key: (row) => decisions.width[row] },
      { title: "Scheduler", text: (row) => Q.at(decisions.scheduler, row) },
    ],
  });
  const section = Q.tabled("decisions", "Decisions", table);
  const only = (name, jump) => {
    table.narrow(name, (row) => Q.at(decisions.agreement, row) === name);
    if (!jump) return;
    section.scrollIntoView({ block: "start" });
    table.grid.focus({ preventScroll: true });
  };
  const told = [Q.agreements(replay, only), section, Q.unknown(replay)].filter(Boolean);
  const first = ["differs", "reasons", "order"].find((name) => replay.counts.some(([one, , count]) => one === name && count));
  if (first) only(first, false);
  return told;
};

Q.agreements = (replay, only) => {
  const section = Q.section("agreement", "How the decisions compare");
  const most = Math.max(1, ...replay.counts.map(([, , count]) => count));
  const rows = replay.counts.flatMap(([name, meaning, count]) => [
    count ? Q.el("button", { type: "button", class: "link", onclick: () => only(name, true) }, `${name}: ${meaning}`) : Q.el("span", {}, `${name}: ${meaning}`),
    Q.el("div", { class: "bar", "aria-hidden": "true" }, Q.el("i", { class: `fill-${name}`, style: `width:${(count / most) * 100}%` })),
    Q.el("span", { class: "amount" }, Q.number(count)),
  ]);
  section.append(
    Q.el("p", { class: "note" }, `${Q.counted(replay.decisions.pod.length, "decision")} about ${Q.counted(replay.pods, "pod")} in ${Q.time(replay.seconds)}; ${Q.number(replay.withNode)} came with a node, ${Q.number(replay.waiting)} still wait.`),
    Q.el("div", { class: "bars causes" }, rows));
  if (replay.tried) section.append(Q.el("p", { class: "note" }, `${Q.counted(replay.tried, "other state")} tried, to see whether ours agrees on one that the recorded scheduler may have met.`));
  for (const [name, count] of replay.others) section.append(Q.el("p", { class: "note" }, `${Q.counted(count, "decision")} of ${name}, which has no profile here.`));
  return section;
};

Q.listed = (id, title, texts) => {
  if (!texts.length) return null;
  const section = Q.section(id, title);
  section.append(Q.el("ul", {}, texts.map((one) => Q.el("li", {}, one))));
  return section;
};

Q.unknown = (replay) => Q.listed("unknown", "What cannot be known from outside, and may be why", replay.unknown);

// One decision: theirs and ours, and the scores of both nodes.
Q.openDecision = (replay, row, meanings) => {
  const { decisions } = replay;
  const name = Q.at(decisions.agreement, row);
  const details = replay.details[row];
  const node = (column) => (Q.at(column, row) ? `on ${Q.at(column, row)}` : "no node");
  const side = (title, text) => Q.el("div", {}, Q.el("h3", {}, title), Q.el("p", {}, text));
  const content = [
    Q.facts([
      ["Compared", Q.el("span", {}, Q.el("b", { class: `state-${name}` }, name), `: ${meanings.get(name)}`)],
      ["After", Q.time(decisions.at[row])],
      ["Scheduler", Q.at(decisions.scheduler, row)],
      ["Equally good to us", decisions.best[row] > 1 ? Q.counted(decisions.best[row], "node") : ""],
      ["Other states tried", decisions.tried[row] ? Q.number(decisions.tried[row]) : ""],
      ["Agrees on a state", decisions.width[row] ? `${Q.counted(decisions.width[row], "change")} away from the recorded one` : ""],
    ]),
    Q.el("div", { class: "sides" },
      side("Theirs", details ? Q.place(details.theirs) : node(decisions.theirs)),
      side("Ours", details ? Q.place(details.ours) : node(decisions.ours))),
  ];
  if (details && details.rejection) {
    const [rejected, plugin, reasons] = details.rejection;
    content.push(Q.el("p", {}, `${rejected} is left out here by ${plugin || "PreFilter"}: ${reasons.join(", ") || "not looked at"}.`));
  }
  if (details && details.scores.length) {
    const marks = { [details.theirs.node]: "← theirs", [details.ours.node]: "← ours" };
    content.push(Q.el("h3", {}, "How ours rates both nodes"), Q.scores(details, marks));
  }
  Q.dialog(`Pod ${decisions.pod[row]}`, ...content);
};
