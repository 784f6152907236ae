// Systems: files in, a ranking out, and the segments behind it.
import { ask, draw, given, make, number, plain } from "./common.js";

const form = document.getElementById("upload"), told = document.getElementById("told"), bar = document.getElementById("progress"), outcome = document.getElementById("outcome");
const cancel = document.getElementById("cancel"), at = (id) => document.getElementById(id), SIZE = 10;
const ENDED = ["done", "failed", "cancelled"], KEPT = 50;
let job = null, start = 0, following = 0;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const data = new FormData();
  for (const name of ["hypotheses", "references", "source", "table"]) for (const file of at(name).files) data.append(name, file, file.name);
  submit(data);
});

at("example").addEventListener("click", () => {
  const data = new FormData(), file = (lines) => new Blob([lines.join("\n") + "\n"], { type: "text/plain" });
  for (const [name, lines] of Object.entries(given.systems.systems)) data.append("hypotheses", file(lines), `${name}.txt`);
  data.append("references", file(given.systems.references), "reference.txt");
  submit(data);
});

async function submit(data) {
  for (const metric of at("metrics").value.split("\n").map((one) => one.trim()).filter(Boolean)) data.append("metric", metric);
  outcome.hidden = true; told.textContent = "sending …"; told.className = "soft";
  try {
    const { id } = await ask("/v1/jobs", { form: data });
    localStorage.setItem("jobs", JSON.stringify([id, ...mine()].slice(0, KEPT)));
    await follow(id);
  } catch (error) { say(error); }
}

// The jobs that were sent from this browser and are still kept.
function mine() { try { return JSON.parse(localStorage.getItem("jobs")) ?? []; } catch { return []; } }

async function listJobs() {
  const ids = mine(), card = at("jobs-card");
  if (!ids.length) { card.hidden = true; return; }
  const kept = (await ask("/v1/jobs")).filter((one) => ids.includes(one.id));
  localStorage.setItem("jobs", JSON.stringify(kept.map((one) => one.id)));
  card.hidden = !kept.length;
  at("jobs").replaceChildren(...kept.map((one) => make("li", {}, make("a", { href: `#job=${one.id}` }, `${one.systems.join(", ") || "a system"} by ${one.metrics.join(", ")}`), " ",
    make("span", { class: "soft" }, `${new Date(1000 * one.created).toLocaleString()}, ${one.state}`), " ",
    make("button", { type: "button", class: "chip", onclick: () => ask(`/v1/jobs/${one.id}`, { method: "DELETE" }).then(listJobs).catch(say) }, ENDED.includes(one.state) ? "Remove" : "Cancel"))));
}

function say(error) { told.textContent = `${error.message} ${error.hint ? `(${error.hint})` : ""}`.trim(); told.className = "bad"; bar.hidden = true; cancel.hidden = true; }

function tellState(state) {
  bar.max = state.total || 1; bar.value = state.done; told.className = "soft";
  const left = state.remaining_seconds === null ? "" : `, about ${Math.ceil(state.remaining_seconds)} s left`;
  if (state.phase === "comparing") told.textContent = `comparing the systems: metric ${state.compared + 1} of ${state.metrics.length}`;
  else told.textContent = `${state.state}: ${state.done} of ${state.total} pairs${left}`;
}

// The states of a job until it ends, or another is followed; a stream that breaks off is taken up again.
async function ended(id, turn) {
  for (;;) {
    let text = "", state = null;
    const answer = await ask(`/v1/jobs/${id}/events`, { raw: true }), reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done || turn !== following) break;
        const events = (text + value).split("\n\n");
        text = events.pop();
        for (const one of events) { state = JSON.parse(one.slice(one.indexOf("data: ") + 6)); tellState(state); at("metrics").value = state.metrics.join("\n"); }
      }
    } catch { state = null; } // the service has gone: `ask` waits for it
    if (turn !== following || ENDED.includes(state?.state)) return state;
  }
}

async function follow(id) {
  const turn = ++following;
  job = id; bar.hidden = false; cancel.hidden = false; outcome.hidden = true;
  if (location.hash !== `#job=${id}`) history.pushState(null, "", `#job=${id}`);
  listJobs().catch(say);
  const state = await ended(id, turn);
  if (turn !== following) return;
  bar.hidden = true; cancel.hidden = true;
  if (state.state === "done") await shown();
  else if (state.error) say({ message: plain(state.error.error), hint: plain(state.error.hint) });
  await listJobs();
}

cancel.addEventListener("click", () => ask(`/v1/jobs/${job}`, { method: "DELETE" }).catch(say));

async function shown() {
  outcome.hidden = false; start = 0;
  const first = await ask(`/v1/jobs/${job}/segments?size=1`);
  const comparison = await ask(`/v1/jobs/${job}/comparison`).catch((error) => { if (error.status === 404) return null; throw error; });
  shorten(first.systems);
  at("verdict").replaceChildren(...(comparison?.verdict ?? []).map((line) => make("p", { class: "verdict" }, shortSentence(plain(line)))));
  at("ranking").replaceChildren(...(comparison ? comparison.results.map(rankingOf) : [plainOf(first.distributions)]));
  at("open-comparison").hidden = !comparison;
  at("distributions").replaceChildren(...distributionsOf(first.distributions));
  for (const [id, names] of [["metric", first.metrics], ["system", first.systems], ["other", first.systems]]) at(id).replaceChildren(...names.map((name) => make("option", { value: name }, shortName(name) || "(unnamed)")));
  at("other").selectedIndex = Math.min(1, first.systems.length - 1);
  at("order").options[2].disabled = first.systems.length < 2; at("order").options[3].disabled = first.metrics.length < 2;
  await browse();
}

// The decimals that intervals support: two digits of the width of the narrowest, at most four decimals.
function digitsOf(systems) {
  const widths = systems.map((s) => s.high - s.low).filter((width) => width > 0);
  return widths.length ? Math.min(Math.max(1 - Math.floor(Math.log10(Math.min(...widths))), 0), 4) : 4;
}

const ENDINGS = /(?<=.)(\.(txt|text|tok|detok|out|hyp|tsv|csv|json|jsonl|parquet|gz|xz))+$/i;
let short = new Map(); // the name of a system -> the name without the ending of a file, where all names stay apart without it

function shorten(names) {
  const shorter = names.map((name) => name.replace(ENDINGS, "")), count = (name) => shorter.filter((other) => other === name).length;
  short = new Map(names.map((name, k) => [name, count(shorter[k]) === 1 ? shorter[k] : name]));
}

const shortName = (name) => short.get(name) ?? name;

function shortSentence(line) { // the longest name first, so that no name is taken for the end of another
  const names = [...short.keys()].filter(Boolean).sort((a, b) => b.length - a.length).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return names.length ? line.replace(new RegExp(names.join("|"), "g"), shortName) : line;
}

function rankingOf(one) {
  const sign = one.higher_is_better ? -1 : 1, systems = [...one.systems].sort((a, b) => sign * (a.score - b.score));
  const digits = digitsOf(systems), low = Math.min(...systems.map((s) => s.low)), high = Math.max(...systems.map((s) => s.high), low + 1e-9), x = (value) => 8 + 184 * (value - low) / (high - low);
  const rows = systems.map((s) => make("tr", {}, make("th", { scope: "row" }, shortName(s.system)), make("td", { class: "number", "data-label": "Score" }, number(s.score, digits)),
    make("td", { class: "number range", "data-label": "Interval" }, `[${number(s.low, digits)}, ${number(s.high, digits)}]`),
    make("td", {}, draw("svg", { class: "interval", viewBox: "0 0 200 20", "aria-hidden": "true" }, draw("line", { x1: x(s.low), x2: x(s.high), y1: 10, y2: 10, "stroke-width": 3 }), draw("circle", { cx: x(s.score), cy: 10, r: 5 }))),
    make("td", { class: "number", "data-label": "Cluster" }, String(s.cluster))));
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Ranking by ${one.metric}` }, make("table", { class: "stack" }, make("caption", { class: "soft" }, `${one.metric}, ${one.higher_is_better ? "higher" : "lower"} is better; ${one.of}, ${one.n} items; systems of a cluster cannot be told apart`),
    make("thead", {}, make("tr", {}, ...["System", "Score", "Interval", "", "Cluster"].map((name, k) => (name ? make("th", { scope: "col", class: [1, 2, 4].includes(k) ? "number" : "" }, name) : make("td"))))), make("tbody", {}, rows)));
}

function plainOf(distributions) {
  return make("table", {}, make("thead", {}, make("tr", {}, ...["Metric", "System", "Score"].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, distributions.map((one) => make("tr", {}, make("td", {}, one.metric), make("td", {}, shortName(one.system)), make("td", {}, number(one.score))))));
}

// A row a metric; its histograms have the same bins and one scale.
function distributionsOf(all) {
  return [...new Set(all.map((one) => one.metric))].map((metric) => {
    const mine = all.filter((one) => one.metric === metric), highest = Math.max(...mine.flatMap((one) => one.counts), 1);
    return make("section", { class: "metric-row", "aria-label": `Distributions of ${metric}` }, make("h3", {}, metric), make("div", { class: "plots" }, mine.map((one) => histogramOf(one, highest))));
  });
}

function histogramOf(one, highest) {
  const width = 292 / one.counts.length;
  const svg = draw("svg", { viewBox: "0 0 300 96", role: "img", "aria-label": `Histogram of ${one.metric} of ${one.system}: mean ${number(one.score)}, scale from ${number(one.low)} to ${number(one.high)}, up to ${highest} items a bar` },
    one.counts.map((count, k) => draw("rect", { x: 4 + k * width, y: 76 - 70 * count / highest, width: Math.max(width - 0.6, 0.6), height: 70 * count / highest })),
    draw("line", { x1: 4, x2: 296, y1: 76.5, y2: 76.5 }), draw("text", { x: 4, y: 91 }, number(one.low, 3)), draw("text", { x: 296, y: 91, "text-anchor": "end" }, number(one.high, 3)));
  return make("figure", {}, make("figcaption", {}, make("strong", {}, shortName(one.system) || "system"), " ", make("span", { class: "soft" }, `mean ${number(one.score)}`)), svg);
}

async function browse() {
  const asked = new URLSearchParams({ order: at("order").value, metric: at("metric").value, system: at("system").value, descending: at("descending").checked, start, size: SIZE });
  if (asked.get("order") === "difference") asked.set("other", at("other").value);
  try {
    const page = await ask(`/v1/jobs/${job}/segments?${asked}`);
    at("segments").replaceChildren(...page.items.map((item) => itemOf(item, page)));
    at("place").textContent = `${start + 1} to ${start + page.items.length} of ${page.total}`;
    at("previous").disabled = start === 0; at("next").disabled = start + SIZE >= page.total;
  } catch (error) { at("segments").replaceChildren(make("p", { class: "bad", role: "alert" }, error.message)); }
}

function itemOf(item, page) {
  const key = page.order === "difference" || page.order === "disagreement" ? ` · ${page.order} ${number(item.key)}` : "";
  return make("article", { class: "item", "data-id": item.id, "data-key": item.key }, make("h3", {}, `Item ${item.id}`, make("span", { class: "soft" }, key)),
    item.references.map((text) => make("p", { dir: "auto" }, make("span", { class: "soft" }, "reference: "), text)),
    item.outputs.map((one) => make("div", { class: "output" }, make("p", { dir: "auto" }, make("strong", {}, shortName(one.system) || "system"), " ", one.hypothesis, " ",
      make("a", { href: `/#${new URLSearchParams([["h", one.hypothesis], ...item.references.map((text) => ["r", text]), ...page.metrics.map((name) => ["m", name])])}`, "aria-label": `Why? Item ${item.id} of ${one.system}` }, "why?")),
      make("p", { class: "number soft" }, Object.entries(one.scores).map(([name, value]) => `${name} ${number(value)}`).join(" · ")))));
}

for (const id of ["order", "metric", "system", "other", "descending"]) at(id).addEventListener("change", () => { start = 0; browse(); });
at("previous").addEventListener("click", () => { start = Math.max(start - SIZE, 0); browse(); });
at("next").addEventListener("click", () => { start += SIZE; browse(); });
for (const button of document.querySelectorAll("[data-format]")) button.addEventListener("click", async () => {
  const answer = await ask(`/v1/jobs/${job}/result?format=${button.dataset.format}`, { raw: true });
  const link = make("a", { href: URL.createObjectURL(await answer.blob()), download: `monge-${job}.${button.dataset.format}` });
  link.click(); setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
// The comparison as a page of its own.
at("open-comparison").addEventListener("click", async () => {
  try {
    const answer = await ask(`/v1/jobs/${job}/comparison?format=html`, { raw: true }), link = make("a", { href: URL.createObjectURL(await answer.blob()), download: `monge-${job}-comparison.html` });
    link.click(); setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  } catch (error) { say(error); }
});
for (const drop of document.querySelectorAll(".drop")) {
  for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, () => drop.classList.add("over"));
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
}
function followAddress() {
  const id = new URLSearchParams(location.hash.slice(1)).get("job");
  if (id && id !== job) follow(id).catch(say);
  if (!id && job) { following += 1; job = null; outcome.hidden = true; bar.hidden = true; cancel.hidden = true; told.textContent = ""; }
}
addEventListener("popstate", followAddress);
followAddress();
listJobs().catch(say);
