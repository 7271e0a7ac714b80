// How each look is told from the others: a word, a mark and the style of its border,
// beside its colour.

export interface LookStyle {
  word: string;
  /** short is the word where there is little room. */
  short?: string;
  /** tint names the custom properties of the colours. */
  tint: string;
  /** mark is an SVG path in a square of 12. */
  mark: string;
  /** dash is the pattern of the border; empty for a solid one. */
  dash: number[];
  faded?: boolean;
}

// The same as in a drawing that does not move.
const cross = "M2 2L10 10M10 2L2 10";
const circle = "M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0";

const styles: Record<string, LookStyle> = {
  Deleted: { word: "Deleted", tint: "deleted", mark: cross, dash: [] },
  Blocked: { word: "Blocked", tint: "blocked", mark: "M4 2V10M8 2V10", dash: [7, 3] },
  Orphaned: { word: "Orphaned", tint: "orphaned", mark: "M0 6H4M8 6H12M7.5 2L4.5 10", dash: [2, 3] },
  Pruned: { word: "Pruned", tint: "pruned", mark: circle + "M4 6H8", dash: [9, 3, 2, 3] },
  Kept: { word: "Kept", tint: "kept", mark: "M1.5 6.5L4.5 9.5L10.5 3", dash: [] },
  Unknown: { word: "Unknown", tint: "unknown", mark: "M3.5 4a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.7M6 10.4v.1", dash: [4, 3] },
  BeingDeleted: { word: "Being deleted", tint: "being-deleted", mark: "M2.5 1.5H9.5M2.5 10.5H9.5M3.5 1.5L8.5 10.5M8.5 1.5L3.5 10.5", dash: [11, 4] },
  WaitingForDependents: { word: "Waiting for dependents", short: "waiting", tint: "waiting", mark: circle + "M6 3V6L8 7.5", dash: [5, 4] },
  Absent: { word: "Absent", tint: "absent", mark: circle + "M2.5 9.5L9.5 2.5", dash: [3, 4] },
  Unseen: { word: "Not seen", tint: "unseen", mark: "M2 6h.1M6 6h.1M10 6h.1", dash: [1, 4] },
  Plain: { word: "There", tint: "plain", mark: "", dash: [] },
  // Only while a plan is played:
  Changed: { word: "Changed", tint: "pruned", mark: "M1.5 10.5 2 8 8 2 10 4 4 10Z", dash: [9, 3, 2, 3] },
  Gone: { word: "Gone", tint: "deleted", mark: cross, dash: [3, 3], faded: true },
};

/** lookStyle is how a look is drawn. One that is not known looks unknown, under its own name. */
export function lookStyle(look: string): LookStyle {
  return styles[look] ?? { ...styles.Unknown!, word: look };
}

/** markIcon is the mark of a look as an element. */
export function markIcon(look: string): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `mark tint-${lookStyle(look).tint}`);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", lookStyle(look).mark || "M6 6h.1");
  svg.append(path);
  return svg;
}
