// Metrics: find one, set it, see the signature of what was built.
import { ask, bare, copied, fillMetrics, given, make, settingsForm } from "./common.js";

const builder = document.getElementById("builder"), filter = document.getElementById("filter"), told = document.getElementById("told");
const select = make("select", { id: "which" }), title = make("p", { class: "soft" }), form = make("div"), found = make("div", { role: "status", "aria-live": "polite" });
let current = location.hash ? decodeURIComponent(location.hash.slice(1)) : given.chosen[0];

builder.append(make("h2", {}, "Build a variant"), make("div", { class: "row" }, make("label", { for: "which" }, "Metric"), select), title, form, found);
fillMetrics(select);

async function open(metric) {
  current = metric; select.value = bare(metric); title.textContent = given.metrics[bare(metric)].title;
  form.replaceChildren(await settingsForm(metric, (changed) => { current = changed; described(); }));
  await described();
}

async function described() {
  history.replaceState(null, "", `#${encodeURIComponent(current)}`);
  try {
    const one = await ask(`/v1/metrics/${encodeURIComponent(current)}`);
    const said = make("span", { class: "soft" });
    const signature = one.signature ?? `${one.kind === "blend" || one.fits.length ? "signed when it is scored: it takes " + one.fits.join(" and ") + " from texts" : "signed by the library that computes it"}`;
    found.replaceChildren(make("h3", {}, current), make("p", {}, `From ${one.range}, ${one.higher_is_better ? "higher" : "lower"} is better.`),
      make("code", { class: "signature", id: "signature" }, signature),
      make("div", { class: "row" }, make("button", { type: "button", class: "chip", onclick: () => copied(signature, said, "signature") }, "Copy signature"),
        make("button", { type: "button", class: "chip", onclick: () => copied(`monge score -t HYP -r REF -m '${current}'`, said, "command") }, "Copy command"),
        make("a", { href: `/#${new URLSearchParams([["h", given.pairs[0].hypothesis], ["r", given.pairs[0].reference], ["m", current]])}` }, "Try it on a pair"), said));
  } catch (error) { found.replaceChildren(make("p", { class: "bad" }, error.message)); }
}

select.addEventListener("change", () => open(select.value));
for (const button of document.querySelectorAll("[data-metric]")) button.addEventListener("click", () => { open(button.dataset.metric); builder.scrollIntoView(); select.focus(); });
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of document.querySelectorAll("#metrics tbody tr")) { row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); shown += !row.hidden; }
  told.textContent = `${shown} metrics`;
});
open(bare(current) in given.metrics ? current : given.chosen[0]);
