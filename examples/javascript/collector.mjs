// The garbage collector for tests, as a process beside them: kubectl-gc has to be on the
// PATH, and KUBECONFIG to name an API server that has no garbage collector.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Returns when everything is known, and collects until stop() is called. */
export async function startCollector(...options) {
  const args = ["controller", "--preset=envtest", "--address=127.0.0.1:0", ...options];
  const child = spawn("kubectl-gc", args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const first = once(createInterface(child.stdout), "line"); // ready http://127.0.0.1:PORT
  const [line] = await Promise.race([first, ended.then(([code]) => Promise.reject(new Error(`kubectl-gc ends with ${code}`)))]);
  const url = line.replace(/^ready /, "");

  async function ask(path) {
    const response = await fetch(url + path);
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }
  return {
    /** Returns when nothing is left to do, and throws what is after the timeout. */
    settled: (timeout = "30s") => ask(`/settled?timeout=${timeout}`),
    /** Says why an object is (still) there, for messages of failures. */
    explain: ({ apiVersion, kind, metadata: { namespace = "", name } }) =>
      ask(`/explain?${new URLSearchParams({ apiVersion, kind, namespace, name })}`),
    async stop() {
      child.kill();
      await ended;
    },
  };
}
