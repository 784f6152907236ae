// A button beside every signature and command that copies it.
export function addCopyButtons(root) {
  for (const code of root.querySelectorAll("code.copy")) {
    const button = document.createElement("button");
    button.type = "button"; button.className = "chip"; button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(code.textContent); button.textContent = "Copied"; }
      catch { getSelection().selectAllChildren(code); button.textContent = "Selected"; }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    code.after(" ", button);
  }
}

addCopyButtons(document);
