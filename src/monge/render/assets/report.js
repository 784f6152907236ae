// The segments of a report: search, filter, sort, page; words marked by what they lost, plans drawn when asked for.
import { make, number } from "./dom.js";
import { picture, step } from "./plan.js";

const SIZE = 10, DIGITS = [...Array(92).keys()].map((k) => k + 35).filter((code) => ![60, 62, 92].includes(code)).map((code) => String.fromCharCode(code));
const VALUE = new Map(DIGITS.map((digit, k) => [digit, k])), LOST = 20, STEPS = 8;
const at = (id) => document.getElementById(id), own = (value) => value / 10000;

async function unpacked() {
  const coded = atob(at("data").textContent), bytes = new Uint8Array(coded.length);
  for (let k = 0; k < coded.length; k++) bytes[k] = coded.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

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

function explainedOf(report, item, system, metric) {
  const place = report.place.get(item), coded = place === undefined ? null : report.plans[place][system][metric];
  if (!coded) return null;
  const [mine, theirs, lost, lack, most, dear, heaviest, ...moved] = coded, text = report.hypotheses[system][item], other = report.against[metric]?.[system]?.[item] ?? 0;
  const against = report.references[item][other] ?? report.sources?.[item] ?? "";
  const hypothesis = { units: unitsOf(text, mine, lost, most) }, reference = { units: unitsOf(against, theirs, lack, most) }, moves = [], plans = {};
  report.metrics[metric].plans.forEach((plan, k) => {
    plans[plan] = true;
    const read = reader(moved[k]), back = plan === "recall", rows = back ? reference.units.length : hypothesis.units.length, columns = back ? hypothesis.units.length : reference.units.length;
    for (let i = 0; i < rows; i++) for (let count = read.next(); count > 0; count--) {
      const zigzag = read.next(), apart = zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2, j = apart + Math.floor(i * columns / rows);
      const both = read.next(), mass = heaviest * Math.max(Math.floor(both / (STEPS + 1)), 0.5) / STEPS, cost = dear * (both % (STEPS + 1)) / STEPS;
      moves.push({ plan, mass, cost, hypothesis: back ? j : i, reference: back ? i : j });
    }
  });
  return { hypothesis, reference, moves, plans, most_lost: most, dearest: dear, text, against };
}

// What the unit of any system that lost most lost: marks of systems side by side mean the same.
function mostOf(report, item, metric) {
  return Math.max(...report.plans[report.place.get(item)].map((systems) => systems[metric]?.[4] ?? 0));
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

function ranksOf(report) { // [metric][system][item]: place among all scores of the metric, 0 worst to 1 best
  return report.scores.map((systems, m) => {
    const sign = report.metrics[m].higher ? 1 : -1, all = Float64Array.from(systems.flat(), (value) => sign * value).sort(), last = Math.max(2 * (all.length - 1), 1);
    const first = (value) => { let a = 0, b = all.length; while (a < b) { const mid = (a + b) >> 1; if (all[mid] < value) a = mid + 1; else b = mid; } return a; };
    return systems.map((row) => row.map((value) => (first(sign * value) + first(sign * value + 0.5) - 1) / last));
  });
}

function keysOf(report, view) {
  const items = report.ids.map((_, item) => item), score = report.scores[view.metric];
  if (view.order === "score") return items.map((item) => own(score[view.system][item]));
  if (view.order === "difference") return items.map((item) => own(score[view.system][item] - score[view.other][item]));
  if (view.order === "spread") return items.map((item) => own(Math.max(...score.map((row) => row[item])) - Math.min(...score.map((row) => row[item]))));
  if (view.order === "human") return items.map((item) => report.human[view.system][item]);
  if (view.order === "disagreement") {
    report.ranks ??= ranksOf(report);
    return items.map((item) => { const mine = report.ranks.map((metric) => metric[view.system][item]); return Math.max(...mine) - Math.min(...mine); });
  }
  return items;
}

function keeps(report, view, item) {
  const gap = (report.scores[view.metric][view.system][item] - report.scores[view.metric][view.other][item]) * (report.metrics[view.metric].higher ? 1 : -1);
  if (view.filter === "better" && gap <= 0) return false;
  if (view.filter === "worse" && gap >= 0) return false;
  if (view.filter === "flagged" && !report.systems.some((_, system) => report.flags[`${system},${item}`])) return false;
  if (view.filter === "judged" && report.human.every((row) => row[item] === null)) return false;
  if (view.filter === "plans" && !report.place.has(item)) return false;
  if (!view.search) return true;
  return [report.ids[item], ...report.references[item], report.sources?.[item] ?? "", ...report.hypotheses.map((row) => row[item])].some((text) => text.toLowerCase().includes(view.search));
}

function viewOf(report) {
  return { search: at("search").value.trim().toLowerCase(), filter: at("filter").value, order: at("order").value, metric: Number(at("metric").value),
    system: Number(at("system")?.value ?? 0), other: Number(at("other")?.value ?? 0), down: at("descending").checked };
}

// The choices that are about the two chosen systems say their names.
function nameChoices(report, view) {
  const mine = report.systems[view.system], other = report.systems[view.other];
  const names = { better: `where ${mine} is better than ${other}`, worse: `where ${mine} is worse than ${other}`, score: `score of ${mine}`, difference: `${mine} minus ${other}`, human: `${report.human_name} of ${mine}`, disagreement: `disagreement of the metrics on ${mine}` };
  for (const option of document.querySelectorAll("#filter option, #order option")) option.textContent = names[option.value] ?? option.textContent;
}

function itemOf(report, view, item, key) {
  const keyed = view.order === "input" ? "" : ` · ${at("order").selectedOptions[0].textContent} ${key === null ? "not judged" : number(key)}`;
  const source = report.sources ? make("p", { dir: "auto" }, make("span", { class: "soft" }, "source: "), report.sources[item]) : null;
  return make("article", { class: "item", "data-id": report.ids[item], "data-key": key, "aria-label": `Segment ${report.ids[item]}` },
    make("h3", {}, `Segment ${report.ids[item]}`, make("span", { class: "soft" }, keyed)), source,
    report.references[item].map((text) => make("p", { dir: "auto" }, make("span", { class: "soft" }, "reference: "), text)),
    make("div", { class: "outputs" }, report.order.map((system) => outputOf(report, view, item, system))));
}

function outputOf(report, view, item, system) {
  const explained = explainedOf(report, item, system, view.metric), name = report.systems[system], flags = report.flags[`${system},${item}`] ?? [];
  if (explained) explained.most_lost = mostOf(report, item, view.metric);
  const text = explained ? markedText(explained.text, explained.hypothesis.units, explained.most_lost) : [report.hypotheses[system][item]];
  const scores = make("p", { class: "scores" }, report.metrics.map((metric, m) => make("span", { class: m === view.metric ? "chosen" : "" }, `${metric.name} `, make("b", {}, number(own(report.scores[m][system][item]))))),
    (report.human?.[system][item] ?? null) === null ? null : make("span", {}, `${report.human_name} `, make("b", {}, number(report.human[system][item]))));
  const box = make("div", { class: "output" }, make("p", {}, make("strong", {}, name)), make("p", { dir: "auto", class: "words" }, text), scores, flags.map((flag) => make("p", { class: "soft" }, flag)));
  if (explained) {
    const shown = make("div", { class: "opened", hidden: true });
    const button = make("button", { type: "button", class: "chip", "aria-expanded": "false", "aria-label": `Plan of ${name}, segment ${report.ids[item]}`, onclick: () => {
      shown.hidden = !shown.hidden;
      button.setAttribute("aria-expanded", String(!shown.hidden));
      if (!shown.hidden && !shown.children.length) shown.append(picture(explained, (box.clientWidth || 320) - 30));
    } }, "Plan");
    box.append(button, shown);
  }
  return box;
}

async function begin() {
  const report = await unpacked();
  report.place = new Map(report.explained.map((item, place) => [item, place]));
  let start = 0, found = [];
  const show = () => {
    const view = viewOf(report), total = found.length;
    at("items").replaceChildren(...found.slice(start, start + SIZE).map(([item, key]) => itemOf(report, view, item, key)));
    at("place").textContent = total ? `${start + 1} to ${Math.min(start + SIZE, total)} of ${total} segments` : "no segment";
    at("previous").disabled = start === 0; at("next").disabled = start + SIZE >= total;
  };
  const update = () => {
    const view = viewOf(report), keys = keysOf(report, view), sign = view.down ? -1 : 1;
    nameChoices(report, view);
    found = keys.map((key, item) => [item, key]).filter(([item]) => keeps(report, view, item)).sort((a, b) => (a[1] === null) - (b[1] === null) || sign * (a[1] - b[1]) || a[0] - b[0]);
    start = 0;
    show();
  };
  let timer = 0;
  at("search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, 150); });
  for (const id of ["filter", "order", "metric", "system", "other", "descending"]) at(id)?.addEventListener("change", update);
  at("previous").addEventListener("click", () => { start = Math.max(start - SIZE, 0); show(); });
  at("next").addEventListener("click", () => { start += SIZE; show(); });
  at("browser").hidden = false;
  update();
  document.documentElement.dataset.ready = "yes";
}

if (at("data")) begin().catch((error) => { at("told").textContent = `The segments cannot be shown: ${error.message}`; });
