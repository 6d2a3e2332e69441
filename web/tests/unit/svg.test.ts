import { describe, expect, it } from "vitest";
import { inked, SvgContext } from "../../src/draw/svg";

/** A font of which each sign is 6 wide, 10 above its baseline 6 above its middle. */
class Ruler {
  font = "";
  textBaseline: CanvasTextBaseline = "alphabetic";
  measureText(text: string): TextMetrics {
    return { width: text.length * 6, fontBoundingBoxAscent: this.textBaseline === "middle" ? 6 : 10 } as TextMetrics;
  }
}

const context = () => new SvgContext(100, 50, new Ruler());
/** What is drawn, without the frame around it. */
const body = (svg: SvgContext) =>
  svg
    .text("t")
    .split("\n")
    .filter((line) => !/^<(svg|\/svg|defs)/.test(line))
    .join("");

describe("a picture that is written down", () => {
  it("has paths where the matrix puts them, and lines as wide as it makes them", () => {
    const svg = context();
    svg.translate(10, 20);
    svg.scale(2, 2);
    svg.beginPath();
    svg.moveTo(0, 0);
    svg.lineTo(5, 1);
    svg.strokeStyle = "#ff0000";
    svg.setLineDash([3, 1]);
    svg.stroke();
    expect(body(svg)).toBe(
      '<path d="M10 20L20 22" fill="none" stroke="#ff0000" stroke-width="2" stroke-dasharray="6 2"/>',
    );
  });

  it("turns the way canvases turn", () => {
    const svg = context();
    svg.rotate(Math.PI / 2);
    svg.fillRect(1, 0, 2, 1);
    expect(body(svg)).toContain('d="M0 1L0 3L-1 3L-1 1z"');
  });

  it("draws circles of four curves, and arcs the short or the long way round", () => {
    const pathOf = (from: number, to: number, back: boolean) => {
      const svg = context();
      svg.beginPath();
      svg.arc(50, 25, 10, from, to, back);
      svg.fill();
      return /d="([^"]*)"/.exec(body(svg))?.[1] ?? "";
    };
    const whole = pathOf(0, 2 * Math.PI, false);
    expect(whole.match(/C/g)).toHaveLength(4);
    expect(whole.startsWith("M60 25C")).toBe(true);
    expect(whole.endsWith(" 60 25")).toBe(true);
    expect(pathOf(0, Math.PI / 2, false).endsWith(" 50 35")).toBe(true);
    expect(pathOf(0, Math.PI / 2, false).match(/C/g)).toHaveLength(1);
    expect(pathOf(0, Math.PI / 2, true).match(/C/g)).toHaveLength(3);
    expect(pathOf(0, -Math.PI / 2, true).match(/C/g)).toHaveLength(1);
  });

  it("brings back what was saved, and cuts only until then", () => {
    const svg = context();
    svg.fillStyle = "#112233";
    svg.save();
    svg.fillStyle = "#445566";
    svg.translate(5, 5);
    svg.beginPath();
    svg.rect(0, 0, 10, 10);
    svg.clip();
    svg.fillRect(0, 0, 1, 1);
    svg.restore();
    svg.fillRect(0, 0, 1, 1);
    svg.restore();
    expect(body(svg)).toMatch(
      /^<g clip-path="url\(#clip0\)"><path d="M5 5L6 5L6 6L5 6z" fill="#445566"\/><\/g><path d="M0 0L1 0L1 1L0 1z" fill="#112233"\/>$/,
    );
    expect(svg.text("t")).toContain('<clipPath id="clip0"><path d="M5 5L15 5L15 15L5 15z"/></clipPath>');
  });

  it("closes what was never restored", () => {
    const svg = context();
    svg.beginPath();
    svg.rect(0, 0, 1, 1);
    svg.clip();
    expect(svg.text("t").match(/<g /g)).toHaveLength(1);
    expect(svg.text("t").match(/<\/g>/g)).toHaveLength(1);
  });

  it("has texts with their font, their place, and no markup of their own", () => {
    const svg = context();
    svg.font = '600 12px "Inter", sans-serif';
    svg.textAlign = "right";
    svg.textBaseline = "middle";
    svg.fillStyle = "#ffffff80";
    svg.fillText("<b> & co", 30, 10);
    expect(body(svg)).toBe(
      '<text x="30" y="14" fill="#ffffff" fill-opacity="0.502" text-anchor="end" font-size="12" font-weight="600" ' +
        'font-family="&quot;Inter&quot;, sans-serif">&lt;b&gt; &amp; co</text>',
    );
    expect(svg.text('"<&>"')).toContain("<title>&quot;&lt;&amp;&gt;&quot;</title>");
    expect(svg.measureText("four").width).toBe(24);
  });

  it("passes over points that are nowhere", () => {
    const svg = context();
    svg.beginPath();
    svg.moveTo(NaN, 0);
    svg.lineTo(1, 1);
    svg.lineTo(Infinity, 1);
    svg.lineTo(2, 2);
    svg.stroke();
    expect(body(svg)).toContain('d="M1 1L2 2"');
  });

  it("writes opacities for every program", () => {
    expect(inked("fill", "#01020340")).toBe('fill="#010203" fill-opacity="0.251"');
    expect(inked("stop-color", "#010203ff")).toBe('stop-color="#010203" stop-opacity="1"');
    expect(inked("stroke", 'red"')).toBe('stroke="red&quot;"');
  });

  it("shades along a line of the picture", () => {
    const svg = context();
    svg.translate(10, 0);
    const shade = svg.createLinearGradient(0, 0, 20, 0);
    shade.addColorStop(0, "#000000");
    shade.addColorStop(1, "#ffffff00");
    svg.fillStyle = shade;
    svg.fillRect(0, 0, 1, 1);
    expect(svg.text("t")).toContain(
      '<linearGradient id="shade0" gradientUnits="userSpaceOnUse" x1="10" y1="0" x2="30" y2="0">' +
        '<stop offset="0" stop-color="#000000"/><stop offset="1" stop-color="#ffffff" stop-opacity="0"/></linearGradient>',
    );
    expect(body(svg)).toContain('fill="url(#shade0)"');
  });
});
