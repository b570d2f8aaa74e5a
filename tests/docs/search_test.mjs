// A test: the search of the site answers the questions of newcomers: node search_test.mjs SITE.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const site = process.argv[2];
if (!existsSync(join(site, "searchindex.js"))) {
  console.log("skipped: ./run docs has not made the site");
  process.exit(0);
}
// What the scripts of the search ask of a browser.
const element = () => ({ appendChild: (child) => child, classList: { add() {} }, dataset: {} });
const context = vm.createContext({
  document: { getElementById: () => null, createElement: element, readyState: "loading", addEventListener() {} },
  localStorage: { setItem() {} }, window: {}, SPHINX_HIGHLIGHT_ENABLED: false, DOCUMENTATION_OPTIONS: {}, console,
  _: (text) => text, Documentation: {}, _ready() {},
});
const run = (name) =>
  vm.runInContext(readFileSync(join(site, name), "utf8").replace("const _displayNextItem", "var _displayNextItem"), context, { filename: name });
run("_static/language_data.js");
run("_static/searchtools.js");
run("searchindex.js");
run("_static/search.js");
vm.runInContext("_displayNextItem = (results) => { found = results; }; var found; Search.title = Search.status = Search.output = {};", context);

const table = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "search_questions.txt"), "utf8");
const questions = table.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split("|").map((part) => part.trim()));
let faults = 0;
for (const [words, pages] of questions) {
  context.words = words;
  vm.runInContext("Search.query(words)", context);
  // The page shows the last result first.
  const first = [...new Set(context.found.slice().reverse().map((one) => one[0]))].slice(0, 3);
  if (pages.split(";").some((page) => first.includes(page.trim()) || first.includes("api/" + page.trim()))) continue;
  console.log(`${words}: ${first.join(", ") || "nothing"} in place of ${pages}`);
  ++faults;
}
console.log(`${questions.length} questions, ${faults} without an answer among the first three`);
process.exit(faults > 0 ? 1 : 0);
