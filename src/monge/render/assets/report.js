// The segments of a report, which carries all of them.
import { browseSegments, byId } from "./segments.js";

const unscaled = (value) => value / 10000;

async function unpacked() {
  const coded = atob(byId("data").textContent), bytes = new Uint8Array(coded.length);
  for (let k = 0; k < coded.length; k++) bytes[k] = coded.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
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
  if (view.order === "score") return items.map((item) => unscaled(score[view.system][item]));
  if (view.order === "difference") return items.map((item) => unscaled(score[view.system][item] - score[view.other][item]));
  if (view.order === "spread") return items.map((item) => unscaled(Math.max(...score.map((row) => row[item])) - Math.min(...score.map((row) => row[item]))));
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


function itemAt(report, view, item, key) {
  const place = report.place.get(item);
  return { id: report.ids[item], key, references: report.references[item], source: report.sources?.[item] ?? null, outputs: report.systems.map((_, system) => {
    const won = report.against[view.metric]?.[system]?.[item] ?? 0;
    return { system, text: report.hypotheses[system][item], scores: report.scores.map((metric) => unscaled(metric[system][item])), human: report.human?.[system][item] ?? null,
      flags: report.flags[`${system},${item}`] ?? [], plan: place === undefined ? null : report.plans[place][system][view.metric], against: report.references[item][won] ?? report.sources?.[item] ?? "" };
  }) };
}

// A page of the segments: sorted again only where the view has changed.
function pager(report) {
  let last = "", found = [];
  return async (view, start, size) => {
    if (JSON.stringify(view) !== last) {
      const keys = keysOf(report, view), sign = view.down ? -1 : 1;
      found = keys.map((key, item) => [item, key]).filter(([item]) => keeps(report, view, item)).sort((a, b) => (a[1] === null) - (b[1] === null) || sign * (a[1] - b[1]) || a[0] - b[0]);
      last = JSON.stringify(view);
    }
    return { total: found.length, items: found.slice(start, start + size).map(([item, key]) => itemAt(report, view, item, key)) };
  };
}

async function begin() {
  const report = await unpacked();
  report.place = new Map(report.explained.map((item, place) => [item, place]));
  await browseSegments({ ...report, page: pager(report) });
  document.documentElement.dataset.ready = "yes";
}

if (byId("data")) begin().catch((error) => { byId("segments-status").textContent = `The segments cannot be shown: ${error.message}`; });
