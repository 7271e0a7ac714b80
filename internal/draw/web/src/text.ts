// Text on a canvas, cut in the middle where it does not fit: the ends of names differ.

export function makeText() {
  let kept = new Map<string, string>();
  return {
    /** fit is the text, cut to a width in the font that the context has. */
    fit(context: CanvasRenderingContext2D, text: string, width: number): string {
      const key = `${context.font}\n${Math.round(width)}\n${text}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      if (kept.size > 20_000) kept = new Map();
      const cut = shorten(context, text, width);
      kept.set(key, cut);
      return cut;
    },
  };
}

function shorten(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  const characters = [...text];
  let [low, high] = [0, characters.length - 1];
  const cut = (n: number) =>
    characters.slice(0, Math.ceil(n / 2)).join("") + "…" + (n > 1 ? characters.slice(-Math.floor(n / 2)).join("") : "");
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(cut(middle)).width <= width) low = middle;
    else high = middle - 1;
  }
  return cut(low);
}
