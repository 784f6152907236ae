// What all views share: elements from data (never from markup), requests with a token, and forms made from the spec.

import { make } from "./dom.js";
export { draw, make, number } from "./dom.js";

export const given = JSON.parse(document.getElementById("bootstrap").textContent);
export function later(work, milliseconds = 250) {
  let timer = 0;
  return (...parts) => { clearTimeout(timer); timer = setTimeout(() => work(...parts), milliseconds); };
}

// A message without what is for a terminal or for programs: sentences, and what stands in brackets.
const COMMAND = /--\w|\bcurl |\bmonge \w+ |\b(?:POST|GET|DELETE) \/|\bpip install/;
export const plain = (text) => text.replace(/\s*\([^()]*\)/g, (one) => (COMMAND.test(one) ? "" : one)).split(/(?<=[.;])\s+/).filter((one) => !COMMAND.test(one)).join(" ").replace(/;$/, "");

export class Refused extends Error {
  constructor(status, said) { super(plain(said.error || "") || said.error || `HTTP ${status}`); this.status = status; this.hint = plain(said.hint || ""); }
}

let token = sessionStorage.getItem("token"), asking = null, waiting = null;

// One form for all who are asked for a token; `wrong` where one was shown that is not the service's.
function askToken(wrong) {
  asking ??= new Promise((resolve) => {
    const input = make("input", { id: "token", type: "password", autocomplete: "off" });
    const form = make("form", { class: "card token" }, wrong ? make("p", { class: "bad", role: "alert" }, "This token is not the one that the service wants.") : null,
      make("div", { class: "row" }, make("label", { for: "token" }, "This service wants a token"), input, make("button", { class: "main" }, "Use it")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!input.value.trim()) return;
      token = input.value.trim(); sessionStorage.setItem("token", token); form.remove(); asking = null; resolve();
    });
    document.getElementById("main").prepend(form); input.focus();
  });
  return asking;
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Wait until the service answers again and is ready; one notice for all who wait.
function awaitService() {
  waiting ??= (async () => {
    const notice = make("p", { class: "card waiting", role: "status" }, "The service cannot be reached. This page goes on by itself when it is back.");
    document.getElementById("main").prepend(notice);
    for (;;) {
      await pause(1000);
      try { if ((await fetch("/health/ready")).ok) break; } catch { /* not yet */ }
    }
    notice.remove(); waiting = null;
  })();
  return waiting;
}

export async function ask(path, { body = null, form = null, method = null, signal = null, raw = false } = {}) {
  const sent = body !== null ? JSON.stringify(body) : form;
  for (;;) {
    const shown = token, headers = shown ? { Authorization: `Bearer ${shown}` } : {};
    if (body !== null) headers["Content-Type"] = "application/json";
    let answer;
    try { answer = await fetch(path, { method: method || (sent === null ? "GET" : "POST"), headers, body: sent, signal }); }
    catch (error) {
      if (error.name === "AbortError" || form !== null) throw error.name === "AbortError" ? error : new Refused(0, { error: "The files did not arrive: the service cannot be reached." });
      await awaitService(); signal?.throwIfAborted(); continue;
    }
    if (answer.status === 503 && form === null) { await awaitService(); signal?.throwIfAborted(); continue; }
    if (answer.status === 401) { if (token === shown) await askToken(shown !== null); signal?.throwIfAborted(); continue; } // another request may have got it meanwhile
    if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => ({})));
    return raw ? answer : answer.json();
  }
}

export async function copied(text, where, what) {
  try { await navigator.clipboard.writeText(text); where.textContent = `${what} copied`; }
  catch { where.textContent = text; }
}

export function fillMetrics(select) {
  const groups = { transport: "By transport", blend: "Blends", lexical: "Of words and characters" };
  for (const [kind, label] of Object.entries(groups)) {
    const names = Object.keys(given.metrics).filter((name) => given.metrics[name].kind === kind);
    select.append(make("optgroup", { label }, names.map((name) => make("option", { value: name }, name))));
  }
}

// A metric as the command line writes it: NAME[axis=choice,axis.field=value].
export const bare = (metric) => metric.split("[")[0];

const known = new Map();
export async function formOf(name) {
  if (!known.has(name)) known.set(name, ask(`/v1/metrics/${encodeURIComponent(name)}`));
  return (await known.get(name)).form;
}

function changesIn(metric) {
  const inner = metric.includes("[") ? metric.slice(metric.indexOf("[") + 1, -1) : "";
  return inner.split(/,(?=[a-z_]+(?:\.[a-z_]+)*=)/).filter(Boolean).map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]);
}

let forms = 0;
// The form of a metric's settings; `changed` is told the metric that it stands for.
export async function settingsForm(metric, changed) {
  const axes = await formOf(bare(metric)), box = make("div", { class: "form" }), said = new Map(changesIn(metric));
  const tell = () => changed(written(bare(metric), axes, box)), number_ = ++forms;
  for (const axis of axes) {
    if (["encoder", "fluency"].includes(axis.axis)) continue;
    const names = Object.keys(axis.choices), set = make("fieldset", { "data-axis": axis.axis }, make("legend", {}, axis.axis || "options"));
    const fields = make("div", { class: "row" });
    const show = (choice) => fields.replaceChildren(...axis.choices[choice].map((field) => fieldOf(field, said.get(field.target), number_, tell)));
    let chosen = said.get(axis.axis) ?? axis.chosen;
    if (!names.includes(chosen)) chosen = axis.chosen;
    if (names.length > 1) {
      const select = make("select", { "aria-label": `${axis.axis} of ${bare(metric)}`, onchange: () => { show(select.value); tell(); } },
        names.map((name) => make("option", { value: name, selected: name === chosen }, name)));
      set.append(select);
    }
    show(chosen); set.append(fields); box.append(set);
  }
  if (!axes.length) box.append(make("p", { class: "soft" }, "A blend of other metrics: its members have the settings."));
  return box;
}

function fieldOf(field, said, number_, tell) {
  const id = `set-${number_}-${field.target}`, value = said ?? field.value, name = field.target.split(".").pop();
  const input = field.options.length
    ? make("select", { id, "data-target": field.target, "data-usual": field.value, onchange: tell }, field.options.map((one) => make("option", { value: one, selected: one === value }, one)))
    : make("input", { id, "data-target": field.target, "data-usual": field.value, value, title: field.accepts, autocomplete: "off", spellcheck: "false", oninput: later(tell, 400) });
  return make("label", { for: id }, name, input);
}

function written(name, axes, box) {
  const changes = [];
  for (const axis of axes) {
    const set = [...box.querySelectorAll("fieldset")].find((one) => one.dataset.axis === axis.axis);
    if (!set) continue;
    const select = set.querySelector(":scope > select");
    if (select && select.value !== axis.chosen) changes.push(`${axis.axis}=${select.value}`);
    for (const input of set.querySelectorAll("[data-target]")) {
      if (input.value !== input.dataset.usual) changes.push(`${input.dataset.target}=${input.value}`);
    }
  }
  return changes.length ? `${name}[${changes.join(",")}]` : name;
}
