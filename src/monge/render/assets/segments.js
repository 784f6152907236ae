// The segments of a comparison, in a report and in the service: search, filter, sort, page; words marked by what they lost, plans
// drawn when asked for. What gives the segments of a page is told apart: `source.page(view, start, size)` answers with `total` and `items`,
// each { id, key, references, source, outputs: [{ system, text, scores, human, flags, plan, against, link }] }.
import { make, number } from "./dom.js";
import { picture, step } from "./plan.js";

const SIZE = 10, DIGITS = [...Array(92).keys()].map((k) => k + 35).filter((code) => ![60, 62, 92].includes(code)).map((code) => String.fromCharCode(code));
const VALUE = new Map(DIGITS.map((digit, k) => [digit, k])), LOST = 20, STEPS = 8;
export const byId = (id) => document.getElementById(id);

// Whole numbers from the characters of a string, one after the other.
function reader(text) {
  let place = 0;
  const next = () => {
    if (text[place] !== "!") return VALUE.get(text[place++]);
    place += 3;
    return VALUE.get(text[place - 2]) * DIGITS.length + VALUE.get(text[place - 1]);
  };
  return { next, more: () => place < text.length };
}

// The units of a side: where they stand in the text, or the words themselves where they stand elsewhere.
function unitsOf(text, places, lost, most) {
  const losses = reader(lost), units = [];
  if (Array.isArray(places)) return places.map((word) => ({ text: word, lost: most * losses.next() / LOST }));
  const read = reader(places);
  for (let end = 0; read.more();) {
    const start = end + read.next();
    end = start + read.next();
    units.push({ text: text.slice(start, end) || "␣", start, end, lost: most * losses.next() / LOST });
  }
  return units;
}

// The plan of an output as `picture` draws it, from the few bytes that a report carries.
function explainedOf(output, plans) {
  if (!output.plan) return null;
  const [mine, theirs, lost, lack, most, dear, heaviest, ...moved] = output.plan, moves = [], names = {};
  const hypothesis = { units: unitsOf(output.text, mine, lost, most) }, reference = { units: unitsOf(output.against, theirs, lack, most) };
  plans.forEach((plan, k) => {
    names[plan] = true;
    const read = reader(moved[k]), back = plan === "recall", rows = back ? reference.units.length : hypothesis.units.length, columns = back ? hypothesis.units.length : reference.units.length;
    for (let i = 0; i < rows; i++) for (let count = read.next(); count > 0; count--) {
      const zigzag = read.next(), apart = zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2, j = apart + Math.floor(i * columns / rows);
      const both = read.next(), mass = heaviest * Math.max(Math.floor(both / (STEPS + 1)), 0.5) / STEPS, cost = dear * (both % (STEPS + 1)) / STEPS;
      moves.push({ plan, mass, cost, hypothesis: back ? j : i, reference: back ? i : j });
    }
  });
  return { hypothesis, reference, moves, plans: names, most_lost: most, dearest: dear };
}

function markedText(text, units, most) {
  if (!units.length || units[0].start === undefined) return [text];
  const parts = [];
  let end = 0;
  for (const unit of units) {
    parts.push(text.slice(end, unit.start), make("span", { class: `unit l${step(unit.lost, most)}`, title: `lost about ${number(unit.lost, 3)}` }, text.slice(unit.start, unit.end)));
    end = unit.end;
  }
  return [...parts, text.slice(end)];
}

function viewOf() {
  return { search: byId("search").value.trim().toLowerCase(), filter: byId("filter").value, order: byId("order").value, metric: Number(byId("metric").value),
    system: Number(byId("system")?.value ?? 0), other: Number(byId("other")?.value ?? 0), down: byId("descending").checked };
}

// The choices that are about the two chosen systems say their names.
function nameChoices(source, view) {
  const mine = source.systems[view.system], other = source.systems[view.other];
  const names = { better: `where ${mine} is better than ${other}`, worse: `where ${mine} is worse than ${other}`, score: `score of ${mine}`, difference: `${mine} minus ${other}`, human: `${source.human_name} of ${mine}`, disagreement: `disagreement of the metrics on ${mine}` };
  for (const option of document.querySelectorAll("#filter option, #order option")) option.textContent = names[option.value] ?? option.textContent;
}

function keyOf(source, view, key) {
  if (view.order === "input") return "";
  const digits = ["human", "disagreement"].includes(view.order) ? 2 : source.metrics[view.metric].digits;
  return ` · ${byId("order").selectedOptions[0].textContent} ${key === null ? "not judged" : number(key, digits)}`;
}

function itemOf(source, view, item) {
  const most = Math.max(0, ...item.outputs.map((output) => output.plan?.[4] ?? 0)); // marks of systems side by side mean the same
  const outputs = source.order.map((system) => item.outputs.find((output) => output.system === system)).filter(Boolean);
  return make("article", { class: "item", "data-id": item.id, "data-key": item.key, "aria-label": `Segment ${item.id}` },
    make("h3", {}, `Segment ${item.id}`, make("span", { class: "soft" }, keyOf(source, view, item.key))),
    item.source === null ? null : make("p", { dir: "auto" }, make("span", { class: "soft" }, "source: "), item.source),
    item.references.map((text) => make("p", { dir: "auto" }, make("span", { class: "soft" }, "reference: "), text)),
    make("div", { class: "outputs" }, outputs.map((output) => outputOf(source, view, item, output, most))));
}

function outputOf(source, view, item, output, most) {
  const explained = explainedOf(output, source.metrics[view.metric].plans), name = source.systems[output.system];
  if (explained) explained.most_lost = most;
  const text = explained ? markedText(output.text, explained.hypothesis.units, most) : [output.text];
  const scores = make("p", { class: "scores" }, source.metrics.map((metric, m) => make("span", { class: m === view.metric ? "chosen" : "" }, `${metric.name} `, make("b", {}, number(output.scores[m], metric.digits)))),
    output.human === null ? null : make("span", {}, `${source.human_name} `, make("b", {}, String(output.human))));
  const box = make("div", { class: "output" }, make("p", {}, make("strong", {}, name)), make("p", { dir: "auto", class: "words" }, text), scores, output.flags.map((flag) => make("p", { class: "soft" }, flag)));
  const buttons = make("p", { class: "row" }), shown = make("div", { class: "opened", hidden: true });
  if (explained) {
    const button = make("button", { type: "button", class: "chip", "aria-expanded": "false", "aria-label": `Plan of ${name}, segment ${item.id}`, onclick: () => {
      shown.hidden = !shown.hidden;
      button.setAttribute("aria-expanded", String(!shown.hidden));
      if (!shown.hidden && !shown.children.length) shown.append(picture(explained, (box.clientWidth || 320) - 30));
    } }, "Plan");
    buttons.append(button);
  }
  if (output.link) buttons.append(make("a", { href: output.link, "aria-label": `Explain segment ${item.id} of ${name}` }, "Explain"));
  if (buttons.children.length) box.append(buttons, shown);
  return box;
}

// Show the segments of a source: { systems, metrics, order, human_name, page }.
export async function browseSegments(source) {
  let start = 0, total = 0, turn = 0;
  const show = async () => {
    const view = viewOf(), mine = ++turn;
    nameChoices(source, view);
    try {
      const page = await source.page(view, start, SIZE);
      if (mine !== turn) return; // another page was asked for meanwhile
      total = page.total;
      byId("segments-status").textContent = "";
      byId("items").replaceChildren(...page.items.map((item) => itemOf(source, view, item)));
      byId("place").textContent = total ? `${start + 1} to ${start + page.items.length} of ${total} segments` : "no segment";
      byId("previous").disabled = start === 0; byId("next").disabled = start + SIZE >= total;
    } catch (error) { byId("segments-status").textContent = `The segments cannot be shown: ${error.message}`; }
  };
  const update = () => { start = 0; return show(); };
  let timer = 0;
  byId("search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, 150); });
  for (const id of ["filter", "order", "metric", "system", "other", "descending"]) byId(id)?.addEventListener("change", update);
  byId("previous").addEventListener("click", () => { start = Math.max(start - SIZE, 0); show(); });
  byId("next").addEventListener("click", () => { start += SIZE; show(); });
  byId("browser").hidden = false;
  await update();
}
