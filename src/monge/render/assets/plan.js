// A plan as pictures: arcs between the words of two texts, and the same as a heat map.
import { draw, make, number } from "./dom.js";

const SIDES = { precision: "precision: hypothesis to reference", recall: "recall: reference to hypothesis" };
const FAINT = 0.01; // of the largest mass: what is smaller is not drawn
const gauge = document.createElement("canvas").getContext("2d");

function widths(units) {
  gauge.font = '15px system-ui, "Segoe UI", "Noto Sans", sans-serif';
  return units.map((unit) => Math.max(gauge.measureText(unit.text).width + 14, 24));
}

function mixed(share) { // between the colours of a cheap and a dear move
  return `color-mix(in srgb, var(--dear) ${Math.round(100 * share)}%, var(--cheap))`;
}

// How strongly a word is marked that lost so much: 0 to 9.
export function step(lost, most) { return most > 0 ? Math.min(Math.max(Math.round(9 * lost / most), 0), 9) : 0; }

// One explanation: texts with arcs, what each word lost, a grid; what a word's mass did is told in words, too.
// Without a table of all costs there is no grid.
export function picture(explained, room, plan = Object.keys(explained.plans)[0]) {
  const moves = explained.moves.filter((move) => move.plan === plan);
  const heaviest = Math.max(...moves.map((move) => move.mass), 1e-12);
  const high = Math.max(explained.cost ? Math.max(...explained.cost.flat()) : explained.dearest, 1e-9);
  const told = make("p", { class: "told", "aria-live": "polite" }, "Point at a word or tap it (or press Tab) to see what it was matched with.");
  const scene = { explained, plan, moves, told, heaviest, shade: (cost) => mixed(Math.min(Math.max(cost / high, 0), 1)), groups: [], drawn: [] };
  const shown = moves.filter((move) => move.mass > FAINT * heaviest);
  const arcs = make("div", { class: "picture" }, arcsOf(scene, shown, room));
  const key = make("div", { class: "key" }, make("span", {}, "cost 0 ", make("span", { class: "ramp cost" }), ` ${number(high, 2)}`), make("span", {}, "thicker: more mass moved"),
    make("span", {}, "orange words lost score"), chooser(explained, plan, (other) => box.replaceWith(picture(explained, room, other))));
  const box = make("div", { class: "plan" }, arcs, key, told, ...(explained.cost ? [lostOf(explained), gridOf(scene)] : []));
  return box;
}

function gridOf(scene) {
  return make("details", { open: true }, make("summary", {}, "As a heat map"), make("div", { class: "picture", tabindex: 0, role: "region", "aria-label": "Heat map" }, heatOf(scene)),
    make("div", { class: "key" }, make("span", {}, "how close two words are ", make("span", { class: "ramp near" })), make("span", {}, "disc: mass moved, in the colour of its cost")));
}

function chooser(explained, plan, chosen) {
  const names = Object.keys(explained.plans);
  if (names.length < 2) return null;
  const select = make("select", { onchange: () => chosen(select.value) }, names.map((name) => make("option", { value: name, selected: name === plan }, SIDES[name] ?? name)));
  return make("label", { class: "check" }, "show", select);
}

function arcsOf(scene, shown, room) {
  const { explained } = scene, rows = [explained.hypothesis.units, explained.reference.units], sizes = rows.map(widths);
  const spans = sizes.map((row) => row.reduce((sum, one) => sum + one + 6, 0)), wide = Math.max(...spans);
  const flat = wide <= Math.max(room - 8, 300), step = 30, tall = Math.max(...rows.map((row) => row.length)) * step + 26;
  const most = Math.min(Math.max((room - 64) / 2, 90), 150); // words give way to the arcs on a phone
  const left = Math.min(Math.max(...sizes[0], 76), most), right = Math.min(Math.max(...sizes[1]), most), gap = Math.max(Math.min(room - left - right - 8, 360), 48);
  const height = 200, svg = flat ? frame(Math.max(wide, 60), height) : frame(left + gap + right, tall);
  const at = [[], []];
  rows.forEach((row, side) => {
    let x = flat ? (wide - spans[side]) / 2 : 0;
    row.forEach((unit, k) => {
      const width = flat ? sizes[side][k] : Math.min(sizes[side][k], most);
      if (flat) { at[side].push([x + width / 2, side ? height - 32 : 32]); }
      else { x = side ? left + gap : left - width; at[side].push([side ? left + gap : left, k * step + 36]); }
      scene.groups.push(wordOf(scene, side, k, x, flat ? (side ? height - 31 : 3) : k * step + 22, width));
      if (flat) x += width + 6;
    });
  });
  if (!flat) svg.append(draw("text", { class: "soft", x: left, y: 12, "text-anchor": "end" }, "hypothesis"), draw("text", { class: "soft", x: left + gap, y: 12 }, "reference"));
  for (const move of [...shown].reverse()) {
    const [a, b] = [at[0][move.hypothesis], at[1][move.reference]], [mx, my] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
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
    draw("rect", { x, y, width, height: 28, rx: 6 }), draw("rect", { class: `lost s${step(unit.lost, scene.explained.most_lost)}`, x, y, width, height: 28, rx: 6 }), draw("text", { x: x + width / 2, y: y + 19, "text-anchor": "middle" }, clipped(unit.text, width)));
  for (const name of ["mouseenter", "focus"]) group.addEventListener(name, () => light(scene, side, k));
  for (const name of ["mouseleave", "blur"]) group.addEventListener(name, () => dark(scene));
  return group;
}

function clipped(text, width) {
  const most = Math.max(Math.floor(width / 7.5), 2);
  return text.length > most + 4 ? `${text.slice(0, most - 1)}…` : text;
}

function movesOf(scene, side, k) {
  return scene.moves.filter((move) => (side ? move.reference : move.hypothesis) === k).sort((a, b) => b.mass - a.mass);
}

function wordTold(scene, side, k) {
  const { hypothesis, reference } = scene.explained, mine = (side ? reference : hypothesis).units[k], mass = movesOf(scene, side, k);
  const whole = mass.reduce((sum, move) => sum + move.mass, 0) || 1, shown = mass.slice(0, 4);
  const parts = shown.map((move) => `${(side ? hypothesis : reference).units[side ? move.hypothesis : move.reference].text} ${Math.round(100 * move.mass / whole)} % (${move.similarity === undefined ? `cost ${number(move.cost, 2)}` : `similarity ${number(move.similarity, 2)}`})`);
  return `${mine.text}: ${mine.weight === undefined ? "" : `weight ${number(mine.weight, 3)}, `}lost ${number(mine.lost, 3)}; ${side ? "from" : "to"} ${parts.join(", ") || "nothing"}${mass.length > 4 ? `, and ${mass.length - 4} more` : ""}`;
}

function light(scene, side, k) {
  const key = side ? "r" : "h", mine = movesOf(scene, side, k), others = new Set(mine.filter((move) => move.mass > FAINT * scene.heaviest).map((move) => (side ? move.hypothesis : move.reference)));
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
    if (mass > FAINT * heaviest) {
      const disc = draw("circle", { class: "disc", cx: left + (j + 0.5) * cell, cy: top + (i + 0.5) * cell, r: (10 * Math.sqrt(mass / heaviest)).toFixed(2), ...at });
      disc.style.fill = scene.shade(cost[i][j]);
      svg.append(disc);
    }
  }));
  scene.drawn.push(svg);
  return svg;
}

function lostOf(explained) {
  const sides = [["Hypothesis", explained.hypothesis], ["Reference", explained.reference]];
  return make("details", { open: true }, make("summary", {}, "What each word lost"), sides.map(([name, side]) => make("p", { class: "shares", dir: "auto" }, make("span", { class: "soft" }, `${name}: `),
    side.units.map((unit) => make("span", { class: `unit l${step(unit.lost, explained.most_lost)}` }, unit.text, make("sub", {}, number(unit.lost, 3)))))));
}
