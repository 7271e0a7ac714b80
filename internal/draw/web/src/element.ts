// The one way in which elements come into being. Text is text: nothing here, and
// nothing that uses it, ever reads markup.

type Attributes = Record<string, string | number | boolean | undefined>;

/** element makes an element with attributes and with text or other elements inside. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...inside: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...inside);
  return made;
}

/** cuttable is a text that loses its middle where there is no room: the ends of names differ. */
export function cuttable(text: string): Node[] {
  const characters = [...text];
  let end = characters.length - 12;
  for (let i = characters.length - 9; i > characters.length - 18; i--) {
    if (/[ ./:_-]/.test(characters[i] ?? "")) {
      end = i;
      break;
    }
  }
  if (end < 3) end = characters.length;
  return [element("span", { class: "head" }, characters.slice(0, end).join("")), element("span", { class: "tail" }, characters.slice(end).join(""))];
}

/** need finds an element of the page by its id. */
export function need<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** section is a titled list. */
export function section(title: string, ...items: Node[]): HTMLElement {
  return element("section", {}, element("h3", {}, title), element("ul", {}, ...items));
}
