/** How well colours, `#rrggbb`, can be distinguished. */

const channels = (hex: string): number[] => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** The relative luminance of WCAG 2.2. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = channels(hex).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast ratio of WCAG 2.2, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [one, other] = [luminance(a) + 0.05, luminance(b) + 0.05];
  return Math.max(one, other) / Math.min(one, other);
}

/** A colour between two. */
export function mixed(a: string, b: string, part: number): string {
  const to = channels(b);
  const texts = channels(a).map((channel, at) => {
    const value = Math.round(channel * (1 - part) + (to[at] ?? 0) * part);
    return value.toString(16).padStart(2, "0");
  });
  return `#${texts.join("")}`;
}

const known = new Map<string, string>();

/** A colour as it is, or as much lighter or darker as it takes to have that contrast to its background. */
export function visibleOn(colour: string, background: string, min: number): string {
  const key = `${colour} ${background} ${min}`;
  let found = known.get(key);
  if (found === undefined) {
    const towards = luminance(background) < 0.18 ? "#ffffff" : "#000000";
    found = colour;
    for (let step = 1; step <= 20 && contrast(found, background) < min; step++)
      found = mixed(colour, towards, step / 20);
    known.set(key, found);
  }
  return found;
}
