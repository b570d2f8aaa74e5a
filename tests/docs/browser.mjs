// Chromium without a window, over the pipes of its debugging protocol: no package of npm is needed.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/// Returns the name of the command, or nothing where no Chromium is installed.
export const findChromium = () =>
  ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);

const seconds = 60;

/// A browser, which close() ends. tab(url) opens a tab; its run(expression) returns the value of an expression of JavaScript.
export function startBrowser(chromium) {
  const profile = mkdtempSync(join(tmpdir(), "ktape-chromium-"));
  // A tab that is not in front would load and run its page later, or never.
  const options = ["--headless", "--disable-gpu", "--remote-debugging-pipe", "--allow-file-access-from-files", `--user-data-dir=${profile}`,
    "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "--disable-background-timer-throttling"];
  if (process.getuid() === 0) options.push("--no-sandbox");  // which Chromium asks of root
  const child = spawn(chromium, options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const answers = new Map(), loads = new Map();
  let last = 0, text = "";
  child.stdio[4].on("data", (part) => {
    const messages = (text + part).split("\0");
    text = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) {
      if (message.method === "Page.loadEventFired") loads.get(message.sessionId)?.();
      answers.get(message.id)?.(message);
      answers.delete(message.id);
    }
  });
  const send = async (method, params, sessionId) => {
    const id = ++last;
    const answer = new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method}: Chromium did not answer in ${seconds} seconds`)), 1000 * seconds);
      answers.set(id, (message) => { clearTimeout(late); resolve(message); });
    });
    child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    const { result, error } = await answer;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const tab = async (url) => {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    await send("Page.enable", {}, sessionId);
    const loaded = new Promise((resolve) => loads.set(sessionId, resolve));
    await send("Page.navigate", { url }, sessionId);
    await loaded;
    return {
      run: async (expression) => {
        const { result, exceptionDetails } = await send(
          "Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId);
        if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
      },
    };
  };
  const close = async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return { tab, close };
}
