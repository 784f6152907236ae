// Systems: files in, a report out, with the segments behind it.
import { ask, given, make, plain } from "./common.js";
import { addCopyButtons } from "./copy.js";
import { browseSegments } from "./segments.js";

const form = document.getElementById("upload"), told = document.getElementById("told"), bar = document.getElementById("progress"), outcome = document.getElementById("outcome");
const cancel = document.getElementById("cancel"), report = document.getElementById("report"), downloads = document.getElementById("downloads"), at = (id) => document.getElementById(id);
const ENDED = ["done", "failed", "cancelled"], KEPT = 50;
let job = null, following = 0;

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
  for (const metric of at("metric-names").value.split("\n").map((one) => one.trim()).filter(Boolean)) data.append("metric", metric);
  outcome.hidden = true; tell("Sending the files …");
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
  at("jobs").replaceChildren(...kept.map((one) => make("li", {}, make("a", { href: `#job=${one.id}` }, `${one.names.join(", ")} by ${one.metrics.join(", ")}`), " ",
    make("span", { class: "soft" }, `${new Date(1000 * one.created).toLocaleString()}, ${one.state}`), " ",
    make("button", { type: "button", class: "chip", onclick: () => ask(`/v1/jobs/${one.id}`, { method: "DELETE" }).then(listJobs).catch(say) }, ENDED.includes(one.state) ? "Remove" : "Cancel"))));
}

// A line above the form, or nothing.
function tell(text, kind = "soft") { told.textContent = text; told.className = kind; at("state").hidden = !text; }

function say(error) {
  tell(`${error.message} ${error.hint ? `(${error.hint})` : ""}`.trim(), "bad");
  bar.hidden = true; cancel.hidden = true; at("new").open = true;
  at("state").scrollIntoView({ block: "nearest" });
}

function tellState(state) {
  const left = state.remaining_seconds === null ? "" : `, about ${Math.ceil(state.remaining_seconds)} s left`, [done, total] = state.explained;
  const explaining = state.phase === "explaining" && total > 0;
  bar.max = (explaining ? total : state.total) || 1; bar.value = explaining ? done : state.done;
  if (state.state === "queued") tell("Other jobs are run first.");
  else if (state.phase === "comparing") tell(`Comparing the systems: metric ${state.compared + 1} of ${state.metrics.length}`);
  else if (state.phase === "explaining") tell(explaining ? `Explaining the scores: ${done} of ${total} plans` : "Explaining the scores");
  else if (state.phase === "writing") tell("Writing the report");
  else tell(`Scoring: ${state.done} of ${state.total} pairs${left}`);
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
        for (const one of events) { state = JSON.parse(one.slice(one.indexOf("data: ") + 6)); tellState(state); at("metric-names").value = state.metrics.join("\n"); }
      }
    } catch { state = null; } // the service has gone: `ask` waits for it
    if (turn !== following || ENDED.includes(state?.state)) return state;
  }
}

async function follow(id) {
  const turn = ++following;
  job = id; bar.hidden = false; cancel.hidden = false; outcome.hidden = true; at("new").open = false;
  if (location.hash !== `#job=${id}`) history.pushState(null, "", `#job=${id}`);
  listJobs().catch(say);
  const state = await ended(id, turn);
  if (turn !== following) return;
  bar.hidden = true; cancel.hidden = true;
  if (state.state === "done") await show(id, turn);
  else if (state.state === "cancelled") say({ message: "This job was cancelled." });
  else if (state.error) say({ message: plain(state.error.error), hint: plain(state.error.hint) });
  await listJobs();
}

cancel.addEventListener("click", () => ask(`/v1/jobs/${job}`, { method: "DELETE" }).catch(say));

// The report of a job, with its own script for the segments, a page of which is asked for at a time.
async function show(id, turn) {
  const { html, ...about } = await ask(`/v1/jobs/${id}/report?format=json`), first = await ask(`/v1/jobs/${id}/segments?size=1`);
  if (turn !== following) return;
  report.innerHTML = html; // written by the service, which escapes every text; the policy of this page runs no script in it
  [...report.querySelectorAll(".lead")].at(-1).after(downloads);
  addCopyButtons(report);
  tell(""); at("purpose").hidden = true; outcome.hidden = false;
  await browseSegments({ ...about, page: (view, start, size) => pageOf(id, first, view, start, size) });
}

async function pageOf(id, names, view, start, size) {
  const { search, filter, order, down } = view, metric = names.metrics[view.metric];
  const asked = new URLSearchParams({ search, filter, order, metric, system: names.systems[view.system], descending: down, start, size });
  if (names.systems.length > 1) asked.set("other", names.systems[view.other]);
  const page = await ask(`/v1/jobs/${id}/segments?${asked}`);
  return { total: page.total, items: page.items.map((item) => ({ ...item, outputs: item.outputs.map((output) => outputOf(names, item, output)) })) };
}

function outputOf(names, item, output) {
  const { system, hypothesis, scores, flags, plan, reference } = output, against = item.references.length ? item.references : [item.source ?? ""];
  const link = `/#${new URLSearchParams([["h", hypothesis], ...against.map((text) => ["r", text]), ...names.metrics.map((name) => ["m", name])])}`;
  return { system: names.systems.indexOf(system), text: hypothesis, scores: names.metrics.map((name) => scores[name]), human: null, flags, plan, against: against[reference] ?? "", link };
}

report.addEventListener("click", (event) => { // the address names the job: parts of the report are only scrolled to
  const href = event.target.closest?.("a")?.getAttribute("href");
  if (!href?.startsWith("#")) return;
  event.preventDefault();
  at(href.slice(1))?.scrollIntoView();
});

for (const button of document.querySelectorAll("[data-path]")) button.addEventListener("click", async () => {
  try {
    const answer = await ask(`/v1/jobs/${job}/${button.dataset.path}`, { raw: true }), ending = button.dataset.path.split("=")[1] ?? "html";
    const link = make("a", { href: URL.createObjectURL(await answer.blob()), download: `monge-${job}.${ending}` });
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
  if (!id && job) { following += 1; job = null; outcome.hidden = true; bar.hidden = true; cancel.hidden = true; tell(""); at("purpose").hidden = false; at("new").open = true; }
}
addEventListener("popstate", followAddress);
followAddress();
listJobs().catch(say);
