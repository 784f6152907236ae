// A plan as pictures: arcs between the words of two texts, and the same as a heat map.
import { draw, make, number } from "./dom.js";

const SIDES = { precision: "precision: hypothesis to reference", recall: "recall: reference to hypothesis" };
const SMALL = 0.05; // of the mass of its word: a move of no more is not drawn but counted
const gauge = document.createElement("canvas").getContext("2d");

function widths(units) {
  gauge.font = '15px system-ui, "Segoe UI", "Noto Sans", sans-serif';
  return units.map((unit) => Math.max(gauge.measureText(unit.text).width + 14, 24));
}

function mixed(share) { // between the colours of a cheap and a dear move
  return `color-mix(in srgb, var(--dear) ${Math.round(100 * share)}%, var(--cheap))`;
}

// How strongly a word is marked that lost so much: 0 to 9.
export function step(lost, highest) { return highest > 0 ? Math.min(Math.max(Math.round(9 * lost / highest), 0), 9) : 0; }

const MANY = 60, DRAWN = 40, ARCS = 400; // words of a text up to which all are drawn; words and arcs that are drawn of longer ones

function most(numbers, least) { let found = least; for (const one of numbers) if (one > found) found = one; return found; } // a spread of many numbers fails
function largest(rows, least) { let found = least; for (const row of rows) found = most(row, found); return found; }
function smallest(rows) { let found = Infinity; for (const row of rows) for (const one of row) if (one < found) found = one; return found; }

function isLong(explained) { return Math.max(explained.hypothesis.units.length, explained.reference.units.length) > MANY; }

// The words that are drawn, of each side in the order of its text: all, or of long texts those that lost most and what they were matched with.
function chosen(explained, by) {
  const sides = [explained.hypothesis.units, explained.reference.units];
  if (!isLong(explained)) return sides.map((units) => units.map((_, k) => k));
  const found = [new Set(), new Set()], take = (side, k) => { if (found[side].size < DRAWN) found[side].add(k); };
  const worst = sides.flatMap((units, side) => units.map((unit, k) => [unit.lost, side, k])).sort((a, b) => b[0] - a[0]);
  for (const [, side, k] of worst) {
    const match = by[side].get(k)?.[0];
    if (found[side].size < DRAWN) { take(side, k); if (match) take(1 - side, side ? match.hypothesis : match.reference); }
  }
  return found.map((some) => [...some].sort((a, b) => a - b));
}

// The plan of the direction that lost more.
function worsePlan(explained) {
  const sum = (side) => side.units.reduce((total, unit) => total + unit.lost, 0);
  if ("precision" in explained.plans && "recall" in explained.plans) return sum(explained.reference) > sum(explained.hypothesis) ? "recall" : "precision";
  return Object.keys(explained.plans)[0];
}

const SCALES = { absolute: "a fixed scale: 0 to all of a word", relative: "the worst word here" };

// A fixed scale needs weights of words and a loss that ends: a distance has no largest value.
function hasFixedScale(explained) { return explained.share_of === "similarity" && explained.full !== undefined; }

// How strongly a word is marked, 0 to 9: by the part of itself that it lost, or against the word that lost most.
function markOf(explained, scale, unit) { return scale === "absolute" ? step(unit.lost, unit.weight * explained.full) : step(unit.lost, explained.most_lost); }

// Whether a move is drawn: it has more than a small part of the mass of its word, which in a plan of both sides is either.
function drawnIn(scene) {
  const sides = scene.plan === "precision" ? [0] : scene.plan === "recall" ? [1] : [0, 1], units = [scene.explained.hypothesis.units, scene.explained.reference.units];
  const masses = units.map((some, side) => some.map((unit, k) => unit.weight ?? movesOf(scene, side, k).reduce((sum, move) => sum + move.mass, 0)));
  return (hypothesis, reference, mass) => sides.some((side) => mass > SMALL * masses[side][side ? reference : hypothesis]);
}

// The moves that are not drawn as a number, those that the server did not list among them.
function restTold(scene, shown) {
  const left = scene.explained.left_out?.moves[scene.plan] ?? { moves: 0, mass: 0 }, sum = (moves) => moves.reduce((total, move) => total + move.mass, 0);
  const count = scene.moves.length - shown.length + left.moves, all = sum(scene.moves) + left.mass;
  if (!count) return [];
  const share = 100 * (all - sum(shown)) / all, percent = share < 1 ? "less than 1" : Math.round(share);
  return [make("p", { class: "rest" }, `${count} smaller ${count === 1 ? "move is" : "moves are"} not drawn: ${percent} % of the mass.`)];
}

// One explanation: marked texts, arcs, what each word lost, a grid; what a word's mass did is told in words, too.
// Without a table of all costs there is no grid; `whole` gives the explanation with that table where it was left out.
export function picture(explained, room, { plan = worsePlan(explained), scale = hasFixedScale(explained) ? "absolute" : "relative", whole = null } = {}) {
  const moves = explained.moves.filter((move) => move.plan === plan);
  const heaviest = most(moves.map((move) => move.mass), 1e-12);
  const high = scale === "absolute" ? explained.full : Math.max(explained.cost?.length ? largest(explained.cost, 0) : explained.dearest, 1e-9);
  const told = make("p", { class: "told", "aria-live": "polite" }, "Point at a word or tap it (or press Tab) to see what it was matched with.");
  const scene = { explained, plan, scale, moves, told, heaviest, shade: (cost) => mixed(Math.min(Math.max(cost / high, 0), 1)), groups: [], drawn: [], by: [new Map(), new Map()] };
  for (const move of moves) [move.hypothesis, move.reference].forEach((k, side) => { if (!scene.by[side].has(k)) scene.by[side].set(k, []); scene.by[side].get(k).push(move); });
  for (const side of scene.by) for (const some of side.values()) some.sort((a, b) => b.mass - a.mass);
  scene.units = chosen(explained, scene.by); scene.isDrawn = drawnIn(scene);
  const there = scene.units.map((some) => new Set(some));
  const shown = moves.filter((move) => scene.isDrawn(move.hypothesis, move.reference, move.mass) && there[0].has(move.hypothesis) && there[1].has(move.reference)).sort((a, b) => b.mass - a.mass).slice(0, ARCS);
  const arcs = make("div", { class: "picture" }, arcsOf(scene, shown, room));
  const key = make("div", { class: "key" }, make("span", {}, "cost 0 ", make("span", { class: "ramp cost" }), ` ${number(high, 2)}`), make("span", {}, "thicker: more mass moved"),
    make("span", {}, "orange words lost score"), chooser("show", SIDES, Object.keys(explained.plans), plan, (other) => again({ plan: other })));
  const again = (changed) => box.replaceWith(picture(explained, room, { plan, scale, whole, ...changed }));
  const long = isLong(explained) ? [make("p", { class: "soft" }, `The texts are long: drawn are ${scene.units[0].length} and ${scene.units[1].length} of ${explained.hypothesis.units.length} and ${explained.reference.units.length} words, those that lost most and what they were matched with.`)] : [];
  const box = make("div", { class: "plan" }, ...(explained.cost ? markedTexts(scene, again) : []), ...long, arcs, ...restTold(scene, shown), key, told, ...(explained.cost ? [lostOf(scene), gridOf(scene, whole)] : []));
  return box;
}

function gridOf(scene, whole) {
  const place = make("div", { class: "picture", tabindex: 0, role: "region", "aria-label": "Heat map" }), long = isLong(scene.explained);
  const key = make("div", { class: "key" }, make("span", {}, "how close two words are ", make("span", { class: "ramp near" })), make("span", {}, long ? "dot: mass moved" : "disc: mass moved, in the colour of its cost"));
  const box = make("details", { open: !long }, make("summary", {}, "As a heat map"), place, key);
  if (!long) place.append(heatOf(scene));
  else box.addEventListener("toggle", () => { if (box.open && !place.childNodes.length) drawLong(scene, whole, place); });
  return box;
}

// A long heat map: one canvas instead of an element a cell, drawn when it is opened.
async function drawLong(scene, whole, place) {
  place.replaceChildren(make("p", { class: "soft" }, "drawing …"));
  let { explained } = scene;
  try { if (!explained.cost.length && whole) explained = await whole(); }
  catch (error) { place.replaceChildren(make("p", { class: "bad", role: "alert" }, error.message)); return; }
  if (!explained.cost.length) { place.replaceChildren(make("p", { class: "soft" }, "The texts are too long for a heat map.")); return; }
  place.replaceChildren(canvasOf(scene, explained));
}

function rgb(name) { // a colour of the palette as numbers
  gauge.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888888";
  const hex = gauge.fillStyle;
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function canvasOf(scene, explained) {
  const { cost } = explained, plan = explained.plans[scene.plan], rows = explained.hypothesis.units, columns = explained.reference.units;
  const cell = Math.min(Math.max(Math.floor(1000 / Math.max(rows.length, columns.length)), 3), 16), low = smallest(cost), high = Math.max(largest(cost, low), low + 1e-9), heaviest = largest(plan, 1e-12);
  const canvas = make("canvas", { width: columns.length * cell, height: rows.length * cell, role: "img", "aria-label": `Closeness of ${rows.length} words with ${columns.length}, and the mass moved between them` });
  const ink = canvas.getContext("2d"), tints = ["--t0", "--t1", "--t2", "--t3"].map(rgb), dear = rgb("--dear");
  for (let i = 0; i < rows.length; i++) for (let j = 0; j < columns.length; j++) {
    const near = 3 * (high - cost[i][j]) / (high - low), step_ = Math.min(Math.floor(near), 2), part = near - step_;
    ink.fillStyle = `rgb(${tints[step_].map((one, k) => Math.round(one + part * (tints[step_ + 1][k] - one)))})`;
    ink.fillRect(j * cell, i * cell, cell, cell);
    if (scene.isDrawn(i, j, plan[i][j])) {
      const size = Math.max(cell * 0.7 * Math.sqrt(plan[i][j] / heaviest), 1);
      ink.fillStyle = `rgb(${dear})`;
      ink.fillRect(j * cell + (cell - size) / 2, i * cell + (cell - size) / 2, size, size);
    }
  }
  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect(), i = Math.floor((event.clientY - box.top) / box.height * rows.length), j = Math.floor((event.clientX - box.left) / box.width * columns.length);
    if (rows[i] && columns[j]) scene.told.textContent = `${rows[i].text} → ${columns[j].text}: cost ${number(cost[i][j], 3)}, mass ${number(plan[i][j], 4)}`;
  });
  return canvas;
}

function chooser(label, texts, names, chosen, change) {
  if (names.length < 2) return null;
  const select = make("select", { onchange: () => change(select.value) }, names.map((name) => make("option", { value: name, selected: name === chosen }, texts[name] ?? name)));
  return make("label", { class: "check" }, label, select);
}

// Both texts as they were written, each word marked by what it lost; words that do not stand in the text, one by one.
function markedTexts(scene, again) {
  const { explained, scale } = scene, sides = [["Hypothesis", explained.hypothesis], ["Reference", explained.reference]];
  const texts = sides.map(([name, side]) => make("p", { class: "marked", dir: "auto" }, make("span", { class: "soft" }, `${name}: `), markedSide(scene, side)));
  const names = Object.keys(SCALES).filter((name) => name === "relative" || hasFixedScale(explained)), end = scale === "absolute" ? "all of a word" : number(explained.most_lost, 3);
  const key = make("div", { class: "key" }, make("span", {}, "lost 0 ", make("span", { class: "ramp lost" }), ` ${end}`), chooser("against", SCALES, names, scale, (other) => again({ scale: other })));
  return [...texts, key];
}

function markedSide(scene, side) {
  const marked = (unit, text) => make("span", { class: `unit l${markOf(scene.explained, scene.scale, unit)}`, title: `lost ${number(unit.lost, 3)}` }, text);
  if (!side.units.length || side.units[0].start === undefined) return side.units.flatMap((unit) => [marked(unit, unit.text), " "]);
  const parts = side.units.flatMap((unit, k) => [side.text.slice(side.units[k - 1]?.end ?? 0, unit.start), marked(unit, side.text.slice(unit.start, unit.end))]);
  return [...parts, side.text.slice(side.units.at(-1).end)];
}

function arcsOf(scene, shown, room) {
  const { explained } = scene, all = [explained.hypothesis.units, explained.reference.units], rows = scene.units.map((some, side) => some.map((k) => all[side][k])), sizes = rows.map(widths);
  const spans = sizes.map((row) => row.reduce((sum, one) => sum + one + 6, 0)), wide = Math.max(...spans);
  const flat = wide <= Math.max(room - 8, 300), step = 30, tall = Math.max(...rows.map((row) => row.length)) * step + 26;
  const wordWidth = Math.min(Math.max((room - 64) / 2, 90), 150); // words give way to the arcs on a phone
  const left = Math.min(Math.max(...sizes[0], 76), wordWidth), right = Math.min(Math.max(...sizes[1]), wordWidth), gap = Math.max(Math.min(room - left - right - 8, 360), 48);
  const height = 200, svg = flat ? frame(Math.max(wide, 60), height) : frame(left + gap + right, tall);
  const at = [new Map(), new Map()];
  rows.forEach((row, side) => {
    let x = flat ? (wide - spans[side]) / 2 : 0;
    row.forEach((unit, k) => {
      const width = flat ? sizes[side][k] : Math.min(sizes[side][k], wordWidth), place = scene.units[side][k];
      if (flat) { at[side].set(place, [x + width / 2, side ? height - 32 : 32]); }
      else { x = side ? left + gap : left - width; at[side].set(place, [side ? left + gap : left, k * step + 36]); }
      scene.groups.push(wordOf(scene, side, place, x, flat ? (side ? height - 31 : 3) : k * step + 22, width));
      if (flat) x += width + 6;
    });
  });
  if (!flat) svg.append(draw("text", { class: "soft", x: left, y: 12, "text-anchor": "end" }, "hypothesis"), draw("text", { class: "soft", x: left + gap, y: 12 }, "reference"));
  for (const move of [...shown].reverse()) {
    const [a, b] = [at[0].get(move.hypothesis), at[1].get(move.reference)], [mx, my] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const path = flat ? `M${a}C${a[0]},${my} ${b[0]},${my} ${b}` : `M${a}C${mx},${a[1]} ${mx},${b[1]} ${b}`;
    const arc = draw("path", { class: "arc", d: path, "stroke-width": (1 + 9 * move.mass / scene.heaviest).toFixed(2), "data-h": move.hypothesis, "data-r": move.reference });
    arc.style.stroke = scene.shade(move.cost);
    arc.setAttribute("stroke-opacity", (0.25 + 0.6 * move.mass / scene.heaviest).toFixed(2));
    svg.append(arc);
  }
  svg.append(...scene.groups); scene.drawn.push(svg);
  return svg;
}

function frame(width, height) {
  return draw("svg", { width: Math.ceil(width), height: Math.ceil(height), viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: "group", "aria-label": "Words of both texts; arcs show which word was moved to which" });
}

function wordOf(scene, side, k, x, y, width) {
  const unit = (side ? scene.explained.reference : scene.explained.hypothesis).units[k];
  const group = draw("g", { class: "word", tabindex: 0, role: "img", "aria-label": wordTold(scene, side, k), "data-side": side, "data-unit": k },
    draw("rect", { x, y, width, height: 28, rx: 6 }), draw("rect", { class: `lost s${markOf(scene.explained, scene.scale, unit)}`, x, y, width, height: 28, rx: 6 }), draw("text", { x: x + width / 2, y: y + 19, "text-anchor": "middle" }, clipped(unit.text, width)));
  for (const name of ["mouseenter", "focus"]) group.addEventListener(name, () => light(scene, side, k));
  for (const name of ["mouseleave", "blur"]) group.addEventListener(name, () => dark(scene));
  return group;
}

function clipped(text, width) {
  const letters = Math.max(Math.floor(width / 7.5), 2);
  return text.length > letters + 4 ? `${text.slice(0, letters - 1)}…` : text;
}

function movesOf(scene, side, k) {
  return scene.by[side].get(k) ?? [];
}

function wordTold(scene, side, k) {
  const { hypothesis, reference } = scene.explained, mine = (side ? reference : hypothesis).units[k], mass = movesOf(scene, side, k);
  const whole = mass.reduce((sum, move) => sum + move.mass, 0) || 1, shown = mass.slice(0, 4);
  const parts = shown.map((move) => `${(side ? hypothesis : reference).units[side ? move.hypothesis : move.reference].text} ${Math.round(100 * move.mass / whole)} % (${move.similarity === undefined ? `cost ${number(move.cost, 2)}` : `similarity ${number(move.similarity, 2)}`})`);
  return `${mine.text}: ${mine.weight === undefined ? "" : `weight ${number(mine.weight, 3)}, `}lost ${number(mine.lost, 3)}; ${side ? "from" : "to"} ${parts.join(", ") || "nothing"}${mass.length > 4 ? `, and ${mass.length - 4} more` : ""}`;
}

function light(scene, side, k) {
  const key = side ? "r" : "h", mine = movesOf(scene, side, k), others = new Set(mine.filter((move) => scene.isDrawn(move.hypothesis, move.reference, move.mass)).map((move) => (side ? move.hypothesis : move.reference)));
  for (const svg of scene.drawn) {
    svg.classList.add("dim");
    for (const one of svg.querySelectorAll(`[data-${key}="${k}"]`)) one.classList.add("lit");
  }
  for (const group of scene.groups) {
    const [s, u] = [Number(group.dataset.side), Number(group.dataset.unit)];
    if ((s === side && u === k) || (s !== side && others.has(u))) group.classList.add("lit");
  }
  scene.told.textContent = wordTold(scene, side, k);
}

function dark(scene) {
  for (const svg of scene.drawn) {
    svg.classList.remove("dim");
    for (const one of svg.querySelectorAll(".lit")) one.classList.remove("lit");
  }
}

function heatOf(scene) {
  const { explained, plan } = scene, rows = explained.hypothesis.units, columns = explained.reference.units, cost = explained.cost;
  const all = cost.flat(), low = Math.min(...all), high = Math.max(...all, low + 1e-9), cell = 26, left = Math.min(Math.max(...widths(rows)), 130), top = 96;
  const svg = draw("svg", { width: left + columns.length * cell + 60, height: top + rows.length * cell + 6, role: "img", "aria-label": "Closeness of every two words, and the mass moved between them" });
  const heaviest = Math.max(...explained.plans[plan].flat(), 1e-12);
  rows.forEach((unit, i) => svg.append(draw("text", { x: left - 6, y: top + i * cell + 18, "text-anchor": "end" }, clipped(unit.text, 130))));
  columns.forEach((unit, j) => { const x = left + j * cell + 16; svg.append(draw("text", { x, y: top - 8, transform: `rotate(-50 ${x} ${top - 8})` }, clipped(unit.text, 110))); });
  rows.forEach((_, i) => columns.forEach((__, j) => {
    const near = (high - cost[i][j]) / (high - low), at = { "data-h": i, "data-r": j }, mass = explained.plans[plan][i][j];
    const box = draw("rect", { class: "cell", x: left + j * cell, y: top + i * cell, width: cell, height: cell, ...at });
    box.style.fill = near < 1 / 3 ? `color-mix(in srgb, var(--t1) ${300 * near}%, var(--t0))` : near < 2 / 3 ? `color-mix(in srgb, var(--t2) ${300 * near - 100}%, var(--t1))` : `color-mix(in srgb, var(--t3) ${300 * near - 200}%, var(--t2))`;
    box.append(draw("title", {}, `${rows[i].text} → ${columns[j].text}: cost ${number(cost[i][j], 3)}, mass ${number(mass, 4)}`));
    svg.append(box);
    if (scene.isDrawn(i, j, mass)) {
      const disc = draw("circle", { class: "disc", cx: left + (j + 0.5) * cell, cy: top + (i + 0.5) * cell, r: (10 * Math.sqrt(mass / heaviest)).toFixed(2), ...at });
      disc.style.fill = scene.shade(cost[i][j]);
      svg.append(disc);
    }
  }));
  scene.drawn.push(svg);
  return svg;
}

function lostOf(scene) {
  const { explained } = scene, sides = [["Hypothesis", explained.hypothesis], ["Reference", explained.reference]];
  return make("details", {}, make("summary", {}, "What each word lost"), sides.map(([name, side]) => make("p", { class: "shares", dir: "auto" }, make("span", { class: "soft" }, `${name}: `),
    side.units.map((unit) => make("span", { class: `unit l${markOf(explained, scene.scale, unit)}` }, unit.text, make("sub", {}, number(unit.lost, 3)))))));
}
