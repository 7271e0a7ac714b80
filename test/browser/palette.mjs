// A picture of a page as PNG with 256 colours: half the size, and nobody sees it.
import { crc32, deflateSync } from "node:zlib";

/** indexed is the PNG of pixels with four bytes each, none of them transparent. */
export function indexed(pixels, width, height) {
  const counts = new Map();
  for (let i = 0; i < pixels.length; i += 4) {
    const colour = (pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2];
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 256).map(([colour]) => colour);
  const nearest = new Map();
  for (const colour of counts.keys()) nearest.set(colour, closest(palette, colour));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const i = (y * width + x) * 4;
      rows[y * (width + 1) + 1 + x] = nearest.get((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8); // eight bits, of a palette
  const colours = Buffer.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]));
  const parts = [["IHDR", head], ["PLTE", colours], ["IDAT", deflateSync(rows, { level: 9 })], ["IEND", Buffer.alloc(0)]];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts.map(([type, data]) => chunk(type, data))]);
}

function closest(palette, colour) {
  let [found, least] = [0, Infinity];
  palette.forEach((other, i) => {
    let away = 0;
    for (const shift of [0, 8, 16]) away += (((colour >> shift) & 255) - ((other >> shift) & 255)) ** 2;
    if (away < least) [found, least] = [i, away];
  });
  return found;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const all = Buffer.alloc(body.length + 8);
  all.writeUInt32BE(data.length, 0);
  body.copy(all, 4);
  all.writeUInt32BE(crc32(body), body.length + 4);
  return all;
}
