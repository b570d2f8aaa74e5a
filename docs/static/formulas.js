// Typesets the formulas of a page with KaTeX, which stands among the files of the site.
function typesetFormulas() {
  for (const element of document.querySelectorAll(".math")) {
    const text = element.textContent.trim();
    const formula = text.replace(/^\\[[(]/, "").replace(/\\[\])]$/, "");
    if (formula !== text && window.katex)
      katex.render(formula, element, { displayMode: element.tagName === "DIV", throwOnError: false });
  }
}
document.addEventListener("DOMContentLoaded", typesetFormulas);
