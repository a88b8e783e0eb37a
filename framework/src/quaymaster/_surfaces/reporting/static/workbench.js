"use strict";
// The live page: the given cluster, what can be asked about it, and the answers.
Q.ask = async (path, body) => {
  const options = body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
  const answer = await fetch(path, options);
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  let message = text;
  try { message = JSON.parse(text).error; } catch { message = text; }
  throw new Error(message);
};

// What a change needs, as an example.
const CHANGES = [
  ["drain", "node-000 or pool=old"], ["cordon", "node-000 or pool=old"], ["uncordon", "node-000 or pool=old"], ["remove", "node-000 or pool=old"],
  ["rotate", "node-000 or pool=old"], ["fail", "node-000 or pool=old"], ["fail-zone", "zone-a"], ["add-nodes", "3:cpu=4,memory=16Gi,zones=3"],
  ["scale", "deploy/web=10"], ["set-image", "deploy/web=nginx:1.29"], ["delete", "deploy/web"], ["repack", ""],
];

Q.field = (label, input) => Q.el("label", {}, label, input);

Q.lines = (area) => area.value.split("\n").map((line) => line.trim()).filter(Boolean);

Q.area = (name, placeholder, rows = 3) => Q.el("textarea", { rows, spellcheck: "false", class: "editor", "aria-label": name, placeholder });

// The fields about the input and the two configurations.
Q.inputFields = (state) => {
  const profiles = Object.entries(state.profiles);
  const editor = (name) => {
    const area = Q.area(`Configuration ${name}`, "", 12);
    area.value = state.config;
    const choose = Q.picker("Copy", [["", "a shipped profile …"], ...profiles.map(([one]) => [one, one])], "", (value) => {
      if (value) area.value = state.profiles[value];
    });
    return { area, box: Q.el("div", {}, Q.el("h3", {}, `Configuration ${name}`), choose, area) };
  };
  const first = editor("A");
  const second = editor("B");
  const files = Q.el("input", { type: "file", multiple: true, accept: ".yaml,.yml,.json", "aria-label": "Manifests" });
  const nodes = Q.el("input", { type: "text", placeholder: "100:cpu=4,memory=16Gi,zones=3", size: 32, "aria-label": "Nodes to add" });
  const seed = Q.el("input", { type: "text", inputmode: "numeric", value: String(state.seed), size: 6, "aria-label": "Seed" });
  const configs = { A: first.area, B: second.area };
  const manifests = async () => {
    const texts = await Promise.all([...files.files].map((file) => file.text()));
    return texts.length > 1 ? texts.map((text) => text.replace(/^---\n/, "")).join("\n---\n") : texts.join("");
  };
  const request = async (names, more = {}) => ({
    runs: names.map((name) => ({ name, config: configs[name].value })),
    seed: Number.parseInt(seed.value, 10) || 0,
    manifests: await manifests(),
    nodes: nodes.value.trim() ? nodes.value.trim().split(/\s+/) : [],
    ...more,
  });
  const inputs = Q.el("div", { class: "chips fields" }, Q.field("Manifests", files), Q.field("Add nodes", nodes), Q.field("Seed", seed));
  return { request, inputs, first, second };
};

// A change to add to the list of changes: its kind, and what it concerns.
Q.changeFields = (area) => {
  const text = Q.el("input", { type: "text", placeholder: CHANGES[0][1], size: 28, "aria-label": "What to change" });
  const kind = Q.picker("Change", CHANGES.map(([name]) => [name, name]), CHANGES[0][0], (value) => { text.placeholder = CHANGES.find(([name]) => name === value)[1]; });
  const add = Q.el("button", {
    type: "button",
    onclick: () => {
      area.value = [...Q.lines(area), `${kind.querySelector("select").value} ${text.value}`.trim()].join("\n");
      text.value = "";
    },
  }, "Add to the list");
  return Q.el("div", { class: "chips fields" }, kind, text, add);
};

Q.workbench = async (host) => {
  const state = await Q.ask("api/state");
  const fields = Q.inputFields(state);
  const status = Q.el("p", { class: "note", role: "status" });
  const wrong = Q.el("pre", { class: "broken", role: "alert", hidden: true });
  const buttons = [];
  const button = (words, act, kind = "") => {
    const made = Q.el("button", { type: "button", class: kind, onclick: act }, words);
    buttons.push(made);
    return made;
  };
  const panel = (name, title, ...content) => Q.el("details", { id: `ask-${name}`, name: "ask" }, Q.el("summary", {}, title), Q.el("div", { class: "panel" }, content));
  const note = (words) => Q.el("p", { class: "note" }, words);

  const changes = Q.area("Changes, one in each line", "drain node-000\nscale deploy/web=10");
  const groups = Q.area("Groups of nodes, one in each line", "name=large,cpu=16,memory=64Gi,price=0.8\nname=small,cpu=4,memory=16Gi,price=0.2");
  const pods = Q.area("Pods, one in each line", "cpu=2,memory=4Gi");
  const begun = state.objects ? `The input has ${Q.counted(state.objects, "object")}, among them ${Q.counted(state.nodes, "node")} and ${Q.counted(state.pods, "pod")} beside those of workloads. Manifests that you choose here replace it.` : "There is no input yet: choose manifests.";
  const studies = {
    "what-if": panel("what-if", "What if", note("Changes of the cluster, one after the other, as what-if has them. The page then shows the state after the last change."), Q.changeFields(changes), changes, Q.el("p", {}, button("Show what happens", () => study("what-if", changes, "Simulating"), "primary"))),
    plan: panel("plan", "Plan nodes", note("Groups of nodes to choose from, as plan --node-group has them. The cheapest nodes on which all pods fit are searched for a minute at most."), groups, Q.el("p", {}, button("Find nodes", () => study("plan", groups, "Planning"), "primary"))),
    capacity: panel("capacity", "Find room", note("Pods of which to find how many more fit, as capacity --pod has them."), pods, Q.el("p", {}, button("Find how many fit", () => study("capacity", pods, "Simulating"), "primary"))),
  };
  const form = Q.section("workbench", "Ask about this cluster");
  form.append(Q.el("div", { class: "asks" },
    panel("run", "Input and configuration", note(begun), fields.inputs, fields.first.box, Q.el("p", {}, button("Run A", () => run(["A"]), "primary"))),
    panel("compare", "Compare configurations", note("Simulates the same input with both configurations, and shows the decisions that differ."), fields.second.box, Q.el("p", { class: "chips" }, button("Run both and compare", () => run(["A", "B"]), "primary"), button("Run B", () => run(["B"])))),
    ...state.studies.map((name) => studies[name]).filter(Boolean)), status, wrong);

  // The last run of the cluster itself: answers of studies lead back to it.
  let cluster = { title: "Quaymaster", version: state.version, runs: [], tables: [] };
  const show = (data) => {
    const back = data === cluster ? null : Q.el("p", {}, button("Back to the cluster", () => show(cluster)));
    Q.explainer = data === cluster ? explain : null;
    Q.suggester = data === cluster ? suggest : null;
    Q.show(host, data, form, back);
    const { dataset } = document.documentElement;
    if (data.runs.length) dataset.run = String(Number(dataset.run || 0) + 1);
  };

  // Does something that takes a while, with its progress and what went wrong.
  const busy = async (words, unit, work) => {
    buttons.forEach((one) => { one.disabled = true; });
    wrong.hidden = true;
    status.textContent = `${words} …`;
    let over = false;
    const timer = setInterval(async () => {
      try {
        const { done, total } = await Q.ask("api/progress");
        if (total && !over) status.textContent = `${words} … ${Q.number(done)} of ${Q.counted(total, unit)}`;
      } catch { clearInterval(timer); }
    }, 700);
    try {
      const result = await work();
      over = true;
      status.textContent = "";
      return result;
    } catch (error) {
      over = true;
      status.textContent = "";
      wrong.textContent = error.message;
      wrong.hidden = false;
      return null;
    } finally {
      clearInterval(timer);
      buttons.forEach((one) => { one.disabled = false; });
    }
  };

  const run = async (names) => {
    const data = await busy("Simulating", "pod", async () => Q.ask("api/run", await fields.request(names)));
    if (!data) return;
    cluster = data;
    show(data);
  };

  const study = async (name, area, words) => {
    const lines = Q.lines(area);
    const data = await busy(words, "pod", async () => Q.ask("api/run", await fields.request(["A"], { study: name, lines })));
    if (data) show(data);
  };

  const explain = async (of, key, into) => {
    into.replaceChildren(Q.el("p", { class: "note", role: "status" }, "Simulating again …"));
    try {
      const attempts = await Q.ask("api/explain", { run: of.name, pod: key });
      into.replaceChildren(...(attempts.length ? attempts.flatMap(Q.attempt) : [Q.el("p", { class: "note" }, "It was never tried.")]));
    } catch (error) {
      into.replaceChildren(Q.el("p", { class: "broken", role: "alert" }, error.message));
    }
  };

  const suggest = async (of, into, tables) => {
    const found = await busy("Searching for changes", "simulation", () => Q.ask("api/suggest", { run: of.name }));
    if (!found) return;
    of.suggestions = found;
    into.replaceChildren(...Q.suggestionList(of, tables));
    into.scrollIntoView({ block: "start" });
  };

  show(cluster);
  if (state.objects) await run(["A"]);
  else form.querySelector("#ask-run").open = true;
};

if (document.querySelector("[data-live]")) {
  const host = document.getElementById("page");
  Q.workbench(host).catch((error) => {
    host.replaceChildren(Q.el("p", { class: "broken", role: "alert" }, error.message));
  });
}
