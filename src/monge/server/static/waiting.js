// While the models are loaded: go on by itself when the service is ready.
const told = document.getElementById("told"), since = Date.now();

async function look() {
  try {
    const answer = await fetch("/health/ready", { cache: "no-store" });
    if (answer.ok) { location.reload(); return; }
    const { error } = await answer.json();
    if (error !== "loading") told.textContent = error;
  } catch { told.textContent = "The service cannot be reached; this page tries again."; }
  if (Date.now() - since > 20000) document.getElementById("long").hidden = false;
  setTimeout(look, 500);
}
look();
