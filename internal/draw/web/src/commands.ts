// Commands to copy.
import { element, section } from "./element.ts";
import type { World } from "./world.ts";

// What a shell and kubectl take as it is. For anything else no command is offered: it
// could do something else than it seems to.
const harmless = /^[A-Za-z0-9][\w.:@%+=/-]*$/;

/** commands are what to type about an object. */
export function commands(world: World, i: number): Node[] {
  const { boxes, kinds, namespaces, from } = world.payload;
  const namespace = namespaces[boxes.namespace[i]!]!;
  const object = `${kinds[boxes.kind[i]!]!.type}/${boxes.name[i]!}`;
  if (![object, ...(namespace ? [namespace] : []), ...(from ?? [])].every((part) => harmless.test(part))) {
    return [element("p", { class: "none" }, "The name is none that a shell takes as it is, so no commands are offered.")];
  }
  const scope = namespace ? ` -n ${namespace}` : "";
  const dump = (from ?? []).map((file) => ` --from ${file}`).join("");
  const lines = [
    `kubectl get ${object}${scope} -o yaml`,
    `kubectl describe ${object}${scope}`,
    `kubectl gc explain ${object}${scope}${dump}`,
    `kubectl gc dry-run delete ${object}${scope}${dump}`,
  ];
  return [section("Commands", ...lines.map(copyable))];
}

/** copyable is a command with a button that copies it. */
export function copyable(line: string): HTMLElement {
  const code = element("code", { tabindex: "0" }, line);
  const button = element("button", { type: "button", class: "copy", "aria-label": `Copy: ${line}` }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(line, code)) ? "Copied" : "Press Ctrl-C";
  });
  return element("li", { class: "command" }, code, button);
}

/** copy puts a text into the clipboard, or selects it where that is not allowed. */
async function copy(text: string, shown: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(shown);
    return false;
  }
}
