// The colours of the style sheet for a canvas, which does not read it by itself.

export interface Tint {
  line: string;
  fill: string;
}

export interface Theme {
  ground: string;
  area: string;
  areaLine: string;
  text: string;
  muted: string;
  arrow: string;
  accent: string;
  font: string;
  /** mono is the font of names: their boxes were measured for it. */
  mono: string;
  tint(name: string): Tint;
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  const tints = new Map<string, Tint>();
  return {
    ground: value("--ground"),
    area: value("--area"),
    areaLine: value("--area-line"),
    text: value("--text"),
    muted: value("--muted"),
    arrow: value("--arrow"),
    accent: value("--accent"),
    mono: value("--mono"),
    font: getComputedStyle(document.body).fontFamily,
    tint(name) {
      let tint = tints.get(name);
      if (!tint) tints.set(name, (tint = { line: value(`--${name}`), fill: value(`--${name}-fill`) }));
      return tint;
    },
  };
}
