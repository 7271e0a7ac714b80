// In a narrow window the list of objects has no place of its own: a button shows it in
// that of everything else.
import { need } from "./element.ts";

/** browse shows the list, or what it covers. */
export function browse(yes: boolean): void {
  document.body.classList.toggle("browsing", yes);
  need("browse-button").setAttribute("aria-expanded", String(yes));
}

/** bindBrowse makes the button work. */
export function bindBrowse(): void {
  need("browse-button").addEventListener("click", () => browse(!document.body.classList.contains("browsing")));
  need("objects").addEventListener("click", () => browse(false));
}
