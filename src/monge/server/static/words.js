// An explanation for people: pieces of words joined into words, and the sentence that says where most was lost.
import { number } from "./dom.js";
import { step } from "./plan.js";

const LETTER = /[\p{L}\p{M}\p{N}]/u, UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const BLANK = "␣", NAMED = 3; // a unit that is a space; moves that the sentence names

// Where each unit stands in its text, or null where they do not stand there one after the other.
function placesOf(side) {
  const lowered = side.text.toLowerCase(), text = lowered.length === side.text.length ? lowered : side.text, places = [];
  let end = 0;
  for (const unit of side.units) {
    if (unit.text === BLANK && !text.includes(BLANK)) { places.push([end, end]); continue; }
    const start = unit.text ? text.indexOf(unit.text.toLowerCase(), end) : -1;
    if (start < 0) return null;
    end = start + unit.text.length;
    places.push([start, end]);
  }
  return places;
}

function areOneWord(text, before, after) { // nothing stands between them, and both are letters of a script that has spaces
  if (before[1] !== after[0] || before[0] === before[1] || after[0] === after[1]) return false;
  const last = [...text.slice(...before)].at(-1), first = [...text.slice(...after)][0];
  return [last, first].every((letter) => LETTER.test(letter) && !UNSPACED.test(letter));
}

// The words of a side, with where they stand, and for each unit the place of its word.
function wordsOf(side) {
  const places = placesOf(side);
  if (!places) return { side, word: side.units.map((_, k) => k) };
  const units = [], word = [];
  side.units.forEach((unit, k) => {
    const [start, end] = places[k], last = units.at(-1);
    if (k && areOneWord(side.text, places[k - 1], places[k])) {
      Object.assign(last, { end, text: side.text.slice(last.start, end), pieces: last.pieces + 1 });
      for (const name of ["weight", "share", "lost"]) last[name] += unit[name];
    } else units.push({ ...unit, start, end, pieces: 1 });
    word.push(units.length - 1);
  });
  return { side: { ...side, units }, word };
}

function joinedMoves(moves, rows, columns) { // masses are added; costs and similarities are means by mass
  const joined = new Map();
  for (const move of moves) {
    const hypothesis = rows[move.hypothesis], reference = columns[move.reference], key = `${move.plan} ${hypothesis} ${reference}`, whole = joined.get(key);
    if (!whole) { joined.set(key, { ...move, hypothesis, reference }); continue; }
    const mass = whole.mass + move.mass, mean = (name) => (whole.mass * whole[name] + move.mass * move[name]) / mass;
    Object.assign(whole, { cost: mean("cost"), ...(move.similarity === undefined ? {} : { similarity: mean("similarity") }), share: whole.share + move.share, mass });
  }
  return [...joined.values()];
}

function joinedCells(table, rows, columns, mean) { // sums, or means over the pieces
  if (!table.length) return table;
  const height = rows.at(-1) + 1, width = columns.at(-1) + 1, sums = Array.from({ length: height }, () => new Array(width).fill(0)), counts = sums.map((row) => [...row]);
  table.forEach((row, i) => row.forEach((value, j) => { sums[rows[i]][columns[j]] += value; counts[rows[i]][columns[j]]++; }));
  return mean ? sums.map((row, i) => row.map((value, j) => value / counts[i][j])) : sums;
}

// The similarity of a perfect match: 1, or the largest there is where similarities exceed it.
function fullOf(explained) {
  let full = 1;
  for (const row of explained.similarity ?? []) for (const value of row) if (value > full) full = value;
  for (const move of explained.moves) if ((move.similarity ?? 0) > full) full = move.similarity;
  return full;
}

// The explanation of whole words: what pieces of one word weigh, lost and moved is added up.
export function asWords(explained) {
  if (!explained) return explained;
  const full = fullOf(explained), [hypothesis, reference] = [wordsOf(explained.hypothesis), wordsOf(explained.reference)], rows = hypothesis.word, columns = reference.word;
  const units = [...hypothesis.side.units, ...reference.side.units], top = (name) => units.reduce((most, unit) => Math.max(most, unit[name]), 0);
  const plans = Object.fromEntries(Object.entries(explained.plans).map(([name, table]) => [name, joinedCells(table, rows, columns, false)]));
  return { ...explained, full, hypothesis: hypothesis.side, reference: reference.side, plans, moves: joinedMoves(explained.moves, rows, columns),
    cost: joinedCells(explained.cost, rows, columns, true), most_lost: Math.max(top("lost"), top("weight") * explained.dearest / 12) };
}

// The sentence of the explanation page: the moves that lost most.
export function verdictOf(explained) {
  if (!explained.moves.length) return "Nothing was moved.";
  const routes = new Map(), plans = Object.keys(explained.plans).length;
  for (const move of explained.moves) {
    const key = `${move.hypothesis} ${move.reference}`, lost = move.mass * (explained.share_of === "cost" ? move.cost : explained.full - move.similarity) / plans;
    const route = routes.get(key) ?? { ...move, lost: 0, mass: 0 };
    routes.set(key, Object.assign(route, { lost: route.lost + lost, mass: route.mass + move.mass }));
  }
  const rounded = (lost) => Math.round(lost * 1e12);
  const worst = [...routes.values()].sort((a, b) => rounded(b.lost) - rounded(a.lost) || b.mass - a.mass).filter((route) => step(route.lost, explained.most_lost) > 1).slice(0, NAMED);
  if (!worst.length) return "No word lost much.";
  const names = worst.map((route) => `“${explained.hypothesis.units[route.hypothesis].text}” with “${explained.reference.units[route.reference].text}” (${number(route.lost)})`);
  return `Most was lost by matching ${names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`}.`;
}
