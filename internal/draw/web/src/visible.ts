// Names come from a cluster, where anybody may have chosen them. What a reader would
// not see, or what would turn the text around, is written as \u202e: as the text
// formats of the program do.

const unseen =
  /(?! )[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/u;
const everyUnseen = new RegExp(unseen, "gu");
const ambiguous = new RegExp(
  String.raw`\\(?=\\|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|` + unseen.source + ")",
  "gu",
);

function sequence(c: string): string {
  const code = c.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x80) return "\\x" + hex.padStart(2, "0");
  if (code <= 0xffff) return "\\u" + hex.padStart(4, "0");
  return "\\U" + hex.padStart(8, "0");
}

/** visible makes every character of a text one that a reader sees. */
export function visible(text: string): string {
  if (!unseen.test(text) && !text.includes("\\")) return text;
  return text.replace(ambiguous, "\\\\").replace(everyUnseen, sequence);
}
