// A pair: type, and see the scores, the plan, and what to paste where.
import { ask, bare, copied, fillMetrics, given, later, make, number, plain, settingsForm } from "./common.js";
import { picture } from "./plan.js";
import { asWords, verdictOf } from "./words.js";

const hypothesis = document.getElementById("hypothesis"), references = document.getElementById("references"), told = document.getElementById("told");
const results = document.getElementById("results"), add = document.getElementById("add-metric");
let metrics = given.chosen.slice(0, 2), running = null;
const cards = new Map();

const texts = () => [...references.querySelectorAll("textarea")].map((one) => one.value);

function setReferences(values) {
  while (references.children.length > Math.max(values.length, 1)) references.lastElementChild.remove();
  while (references.children.length < values.length) addReference("");
  [...references.querySelectorAll("textarea")].forEach((one, k) => { one.value = values[k] ?? ""; });
}

function addReference(value) {
  const k = references.children.length + 1, id = `reference-${k}`;
  const area = make("textarea", { id, class: "reference", rows: 2, maxlength: 20000, spellcheck: "false", dir: "auto", oninput: soon });
  area.value = value;
  const field = make("div", { class: "field" }, make("label", { for: id }, `Reference ${k}`), area,
    make("div", {}, make("button", { type: "button", class: "chip", onclick: () => { field.remove(); update(); } }, "Remove")));
  references.append(field);
  return area;
}

const added = document.getElementById("added"), STRETCH = 3000; // milliseconds of typing without a pause: one step back
let remembered = null, typed = 0;

// Put what is seen into the address; a step back undoes an action, or a stretch of typing.
function remember(typing) {
  const state = `#${new URLSearchParams([["h", hypothesis.value], ...texts().map((one) => ["r", one]), ...metrics.map((one) => ["m", one])])}`;
  if (state === remembered) return;
  const goesOn = typing && Date.now() - typed < STRETCH;
  history[remembered === null || goesOn ? "replaceState" : "pushState"](null, "", state);
  remembered = state; typed = typing ? Date.now() : 0;
}

function restore() {
  const state = new URLSearchParams(location.hash.slice(1));
  if (!state.has("h")) return;
  hypothesis.value = state.get("h");
  setReferences(state.getAll("r"));
  metrics = [...new Set(state.getAll("m"))].filter((one) => bare(one) in given.metrics);
}

async function update(typing = false) {
  remember(typing);
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  for (const metric of cards.keys()) if (!metrics.includes(metric)) { cards.get(metric).remove(); cards.delete(metric); }
  await Promise.all(metrics.map((metric) => show(metric, signal)));
}
const soon = later(() => update(true));

function cardOf(metric) {
  if (cards.has(metric)) return cards.get(metric);
  const body = make("div", { class: "body" });
  const form = make("details", { ontoggle: async () => {
    if (form.open && form.children.length === 1) form.append(await settingsForm(metric, (changed) => exchange(metric, changed)));
  } }, make("summary", {}, "Settings"));
  const card = make("section", { class: "card", "aria-label": metric }, make("div", { class: "metric-head" }, make("h2", {}, metric),
    make("button", { type: "button", class: "chip", onclick: () => { metrics = metrics.filter((one) => one !== card.dataset.metric); update(); } }, "Remove")), body, form);
  card.dataset.metric = metric;
  cards.set(metric, card);
  const after = metrics.slice(metrics.indexOf(metric) + 1).map((one) => cards.get(one)).find(Boolean);
  results.insertBefore(card, after ?? null);
  return card;
}

// The card of a metric whose settings were changed stays where it is, its form open.
function exchange(metric, changed) {
  const card = [...cards.values()].find((one) => one.dataset.metric === metric || one.dataset.was === metric);
  const old = card.dataset.metric;
  if (changed === old) return;
  if (metrics.includes(changed)) { added.textContent = `${changed} is there already.`; return; }
  cards.delete(old); cards.set(changed, card);
  metrics = metrics.map((one) => (one === old ? changed : one));
  card.dataset.metric = changed; card.dataset.was = metric;
  card.setAttribute("aria-label", changed);
  card.querySelector("h2").textContent = changed;
  update();
}

async function show(metric, signal) {
  const card = cardOf(metric), body = card.querySelector(".body"), given_ = texts().filter((one) => one.trim() || texts().length === 1);
  body.classList.add("stale");
  try {
    const [score, explained] = await Promise.all([scored(metric, given_, signal), explainedBy(metric, given_, signal)]);
    const one = score.results?.[0] ?? explained;
    if (!one) throw score.error;
    const win = (one.best_reference ?? 1) - 1;
    body.replaceChildren(make("div", { class: "score" }, number(one.score)), ...(explained ? [make("p", { class: "verdict" }, verdictOf(explained))] : []), partsOf(one), ...notesOf(score, explained),
      ...(explained ? [picture(explained, body.clientWidth || 320, { whole: () => explainedBy(metric, given_, signal, true) })] : []), ...pastes(metric, one.signature, given_[win]));
  } catch (error) {
    if (error.name === "AbortError") return;
    body.replaceChildren(make("p", { class: "bad", role: "alert" }, error.message), ...[...emptyNotes(), error.hint ?? ""].filter(Boolean).map((one) => make("p", { class: "soft" }, one)));
  }
  body.classList.remove("stale");
}

async function scored(metric, given_, signal) {
  try { return await ask("/v1/score", { body: { hypotheses: [hypothesis.value], references: [given_], metrics: [metric] }, signal }); }
  catch (error) { if (error.name === "AbortError") throw error; return { error }; }
}

async function explainedBy(metric, given_, signal, whole = false) {
  if (given.metrics[bare(metric)]?.kind !== "transport") return null;
  const body = { hypothesis: hypothesis.value, reference: given_[0] ?? "", metric, whole };
  try { return asWords(await ask("/v1/explain", { body, signal })); }
  catch (error) { if (error.name === "AbortError" || whole) throw error; return null; }
}

function partsOf(one) {
  const better = one.higher_is_better ? "higher is better" : "lower is better";
  return make("dl", { class: "parts" }, Object.entries(one.parts).slice(0, 8).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, number(value)))),
    make("div", {}, make("dt", {}, better)));
}

function emptyNotes() {
  const empty = [!hypothesis.value.trim(), texts().every((one) => !one.trim())];
  if (empty[0] && empty[1]) return ["Both texts are empty: they count as equal."];
  if (empty[0]) return ["The hypothesis is empty: it has no word that could be matched."];
  return empty[1] ? ["The reference is empty: there is no word to match with."] : [];
}

function notesOf(score, explained) {
  const notes = [...emptyNotes(), ...(explained?.notes ?? []).map(plain)].filter(Boolean);
  if (explained && texts().length > 1 && !score.error) notes.push("The score is of all references; the picture shows the first.");
  return notes.map((note) => make("p", { class: "soft" }, note));
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function pastes(metric, signature, reference) {
  const command = `monge explain ${quoted(hypothesis.value)} ${quoted(reference ?? "")} -m ${quoted(metric)}`;
  const python = `import monge\nmonge.explain(${JSON.stringify(hypothesis.value)}, ${JSON.stringify(reference ?? "")}, metric=${JSON.stringify(metric)})`;
  const said = make("span", { class: "soft", role: "status" });
  const button = (label, text) => make("button", { type: "button", class: "chip", onclick: () => copied(text, said, label) }, label);
  return [make("div", { class: "row" }, make("span", { class: "soft" }, "Copy:"), button("signature", signature), button("command", command), button("Python", python), said),
    make("details", {}, make("summary", {}, "Signature"), make("code", { class: "signature" }, signature))];
}

fillMetrics(add);
restore();
hypothesis.addEventListener("input", soon);
references.addEventListener("input", soon);
document.getElementById("add-reference").addEventListener("click", () => addReference("").focus());
document.getElementById("copy-link").addEventListener("click", () => { remember(false); copied(location.href, told, "link"); });
document.getElementById("add").addEventListener("click", () => {
  const there = metrics.includes(add.value);
  added.textContent = there ? `${add.value} is there already.` : "";
  if (!there) { metrics.push(add.value); update(); }
});
for (const button of document.querySelectorAll("[data-example]")) button.addEventListener("click", () => {
  const one = given.pairs[Number(button.dataset.example)];
  hypothesis.value = one.hypothesis; setReferences([one.reference]); update();
});
addEventListener("popstate", () => { remembered = location.hash; restore(); remembered = `#${new URLSearchParams(location.hash.slice(1))}`; update(); });
update();
