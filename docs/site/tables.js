// The theme puts tables into boxes that scroll: they can be reached by keys too.
const focusable = () =>
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code").forEach((box) => { box.tabIndex = 0; });
new MutationObserver(focusable).observe(document.body, { childList: true, subtree: true });
focusable();
