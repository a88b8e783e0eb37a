"use strict";
// The live page: input, configurations to edit, and the report of what was run.
Q.ask = async (path, body) => {
  const options = body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
  const answer = await fetch(path, options);
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  let message = text;
  try { message = JSON.parse(text).error; } catch { message = text; }
  throw new Error(message);
};

Q.workbench = async (host) => {
  const state = await Q.ask("api/state");
  const profiles = Object.entries(state.profiles);

  const editor = (name, text) => {
    const area = Q.el("textarea", { rows: 14, spellcheck: "false", "aria-label": `Configuration ${name}`, class: "editor" });
    area.value = text;
    const choose = Q.picker("Take over", [["", "a shipped profile …"], ...profiles.map(([one]) => [one, one])], "", (value) => {
      if (value) area.value = state.profiles[value];
    });
    return { area, box: Q.el("div", {}, Q.el("h3", {}, `Configuration ${name}`), choose, area) };
  };
  const first = editor("A", state.config);
  const second = editor("B", state.config);

  const files = Q.el("input", { type: "file", multiple: true, accept: ".yaml,.yml,.json", "aria-label": "Manifests" });
  const nodes = Q.el("input", { type: "text", placeholder: "100:cpu=4,memory=16Gi,zones=3", size: 32, "aria-label": "Nodes to add" });
  const seed = Q.el("input", { type: "text", inputmode: "numeric", value: String(state.seed), size: 6, "aria-label": "Seed" });
  const told = Q.el("p", { class: "note", role: "status" });
  const wrong = Q.el("pre", { class: "broken", role: "alert", hidden: true });
  const buttons = [["Run A", ["A"]], ["Run B", ["B"]], ["Run both and compare", ["A", "B"]]]
    .map(([words, names], index) => Q.el("button", { type: "button", class: index === 2 ? "" : index ? "" : "primary", onclick: () => run(names) }, words));

  const begun = state.objects ? `The input has ${Q.counted(state.objects, "object")}, among them ${Q.counted(state.nodes, "node")} and ${Q.counted(state.pods, "pod")} beside those of workloads. Manifests that are chosen here take its place.` : "There is no input yet: choose manifests.";
  const form = Q.section("workbench", "Simulate");
  form.append(
    Q.el("p", { class: "note" }, begun),
    Q.el("div", { class: "chips fields" }, Q.el("label", {}, "Manifests", files), Q.el("label", {}, "Add nodes", nodes), Q.el("label", {}, "Seed", seed)),
    Q.el("div", { class: "sides" }, first.box, second.box),
    Q.el("div", { class: "chips fields" }, buttons), told, wrong);

  const show = (data) => Q.show(host, data, form);

  // Does something that takes a while, with its progress and what went wrong.
  const busy = async (words, work) => {
    buttons.forEach((one) => { one.disabled = true; });
    wrong.hidden = true;
    told.textContent = `${words} …`;
    let over = false;
    const timer = setInterval(async () => {
      try {
        const { done, total } = await Q.ask("api/progress");
        if (total && !over) told.textContent = `${words} … ${Q.number(done)} of ${Q.counted(total, "pod")}`;
      } catch { clearInterval(timer); }
    }, 700);
    try {
      const result = await work();
      over = true;
      told.textContent = "Done.";
      return result;
    } catch (error) {
      over = true;
      told.textContent = "";
      wrong.textContent = error.message;
      wrong.hidden = false;
      return null;
    } finally {
      clearInterval(timer);
      buttons.forEach((one) => { one.disabled = false; });
    }
  };

  const input = async () => {
    const texts = await Promise.all([...files.files].map((file) => file.text()));
    return texts.length > 1 ? texts.map((text) => text.replace(/^---\n/, "")).join("\n---\n") : texts.join("");
  };

  const run = async (names) => {
    const configs = { A: first.area.value, B: second.area.value };
    const data = await busy("Simulating", async () => Q.ask("api/run", {
      runs: names.map((name) => ({ name, config: configs[name] })),
      seed: Number.parseInt(seed.value, 10) || 0,
      manifests: await input(),
      nodes: nodes.value.trim() ? nodes.value.trim().split(/\s+/) : [],
    }));
    if (data) {
      show(data);
      document.documentElement.dataset.run = String(Number(document.documentElement.dataset.run || 0) + 1);
    }
  };

  Q.explainer = async (of, key, into) => {
    into.replaceChildren(Q.el("p", { class: "note", role: "status" }, "Simulating again …"));
    try {
      const attempts = await Q.ask("api/explain", { run: of.name, pod: key });
      into.replaceChildren(...(attempts.length ? attempts.flatMap(Q.attempt) : [Q.el("p", { class: "note" }, "It was never tried.")]));
    } catch (error) {
      into.replaceChildren(Q.el("p", { class: "broken", role: "alert" }, error.message));
    }
  };

  show({ title: "Quaymaster", version: state.version, runs: [], tables: [] });
};

if (document.querySelector("[data-live]")) {
  const host = document.getElementById("page");
  Q.workbench(host).catch((error) => {
    host.replaceChildren(Q.el("p", { class: "broken", role: "alert" }, error.message));
  });
}
