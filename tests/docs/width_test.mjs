// A test: no page of the site scrolls sideways, on phones and on large screens: node width_test.mjs SITE.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findChromium, startBrowser } from "./browser.mjs";

const site = resolve(process.argv[2]);
if (!existsSync(join(site, "index.html"))) {
  console.log("skipped: ./run docs has not made the site");
  process.exit(0);
}
const chromium = findChromium();
if (!chromium) {
  console.log("skipped: Chromium is not installed");
  process.exit(0);
}
const url = (page) => pathToFileURL(join(site, page)).href;
const text = (page) => readFileSync(join(site, page), "utf8");
const pages = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
const widths = [390, 768, 1000, 1400, 1920];
// Pages of each kind are measured in many widths, between which the frame of a page changes its form, and in both themes.
const many = [...widths, ...Array.from({ length: 43 }, (_, i) => 320 + 40 * i)].sort((a, b) => a - b);
const kinds = ["index.html", "parity.html", "search.html", "guides/tape.html", "reference/layers.html", "api/nn/Dense.html", "zoo/mnist.html"];
// Most pages are those of names, which one program makes: they take turns with three of the widths.
const widthsOf = (page, number) => kinds.includes(page) ? many : page.startsWith("api/") ? [390, [768, 1000, 1920][number % 3], 1400] : widths;

// These run in the browser, in a page with a frame. All pages have the same styles and scripts: the text of a page takes the place of that of
// the page before, because to load each page takes several times as long.
async function open(first) {
  window.frame = document.createElement("iframe");
  frame.style.cssText = "border: 0; width: 1400px; height: 100px";
  frame.src = first;
  const loaded = new Promise((resolve) => (frame.onload = resolve));
  document.body.replaceChildren(frame);
  await loaded;
  window.base = frame.contentDocument.createElement("base");
  frame.contentDocument.head.prepend(base);
}
async function faults(address, body, widths, theme) {
  const page = frame.contentDocument, found = [];
  base.href = address;
  page.body.innerHTML = body;
  page.body.dataset.theme = theme;
  frame.contentWindow.typesetFormulas();
  const loaded = (image) => image.complete ? Promise.resolve() : new Promise((resolve) => (image.onload = image.onerror = resolve));
  await Promise.all([...page.images].map((image) => { image.loading = "eager"; return loaded(image); }));
  const words = (element) => `${element.localName} "${element.textContent.trim().slice(0, 60).replace(/\s+/g, " ")}"`;
  const measure = (width) => {
    frame.style.width = `${width}px`;
    // Where there is room, the code and tables of a page do not scroll by themselves, either.
    const parts = width < 1400 ? "" : ", article pre, article table, article div.math, div.notebook-result";
    for (const part of page.querySelectorAll(`html, .content, .sidebar-scroll, .toc-scroll${parts}`)) {
      if (part.scrollWidth <= part.clientWidth || !part.clientWidth) continue;
      const edge = part.getBoundingClientRect().left + part.clientWidth;
      const wide = [...part.querySelectorAll("*")].filter((one) =>
        one.getBoundingClientRect().right > edge + 1 && !one.parentElement.closest("pre, table, .math")).pop();
      found.push(`${width} px: ${words(wide ?? part)} is ${part.scrollWidth - part.clientWidth} px wider than ${part.localName}.${part.className}`);
    }
  };
  if (frame.style.width === `${widths.at(-1)}px`) widths.reverse();  // the first width is that of the page before
  widths.forEach(measure);
  return found;
}

const browser = startBrowser(chromium);
const withScripts = pages.find((page) => text(page).includes("katex.min.js"));
let count = 0, next = 0;
async function work() {
  const tab = await browser.tab(url("index.html"));
  await tab.run(`${faults}; (${open})(${JSON.stringify(url(withScripts))})`);
  for (let number = next++; number < pages.length; number = next++) {
    const page = pages[number];
    const body = text(page).split(/<body[^>]*>/)[1].split("</body>")[0];
    for (const theme of kinds.includes(page) ? ["light", "dark"] : ["light"]) {
      const given = [url(page), body, widthsOf(page, number), theme].map((one) => JSON.stringify(one));
      for (const fault of await tab.run(`faults(${given})`)) {
        console.log(`${page}, ${theme}: ${fault}`);
        ++count;
      }
    }
  }
}
try {
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, work));
} finally {
  await browser.close();
}
const unknown = kinds.filter((page) => !pages.includes(page));
if (unknown.length) console.log(`The site has no ${unknown.join(", ")}`);
console.log(`${pages.length} pages, ${count} faults`);
process.exit(count || unknown.length ? 1 : 0);
