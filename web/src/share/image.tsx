// The whole picture as a file: SVG with its own styles, or PNG.

import { render } from "preact";

import type { Model } from "../model/model";
import { BoxShape, TileShape } from "../picture/boxes";
import { layout } from "../picture/layout";

/** Wide enough for four nodes beside each other. */
const WIDTH = 1000;
const MARGIN = 12;

/** An SVG that needs nothing of the page. */
export function svgOf(model: Model): { text: string; width: number; height: number } {
  const { boxes, height } = layout(model, WIDTH);
  const [outerWidth, outerHeight] = [WIDTH + 2 * MARGIN, height + 2 * MARGIN];
  const holder = document.createElement("div");
  render(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      class="picture"
      width={outerWidth}
      height={outerHeight}
      viewBox={`${-MARGIN} ${-MARGIN} ${outerWidth} ${outerHeight}`}
    >
      <style>{styles()}</style>
      <rect class="ground" x={-MARGIN} y={-MARGIN} width={outerWidth} height={outerHeight} />
      {boxes.map((box) => (box.kind === "tile" ? <TileShape box={box} isPicked={false} isReachable={false} /> : <BoxShape box={box} />))}
    </svg>,
    holder,
  );
  const [svg] = holder.children;
  const text = svg === undefined ? "" : new XMLSerializer().serializeToString(svg);
  render(null, holder);
  return { text, width: outerWidth, height: outerHeight };
}

export async function pngOf(model: Model): Promise<Blob> {
  const { text, width, height } = svgOf(model);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  // Twice the size, for screens and paper; no canvas may be larger than this.
  const scale = Math.min(2, 16_000 / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob === null ? reject(new Error("no picture")) : resolve(blob)), "image/png"));
}

/** The rules of the page that are about the picture, with the colours of the theme as it is. */
function styles(): string {
  const root = getComputedStyle(document.documentElement);
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule instanceof CSSStyleRule);
  const own = rules.filter(({ selectorText }) => /^(\.picture|\.tile|\.frame|\.cell|svg)\b/.test(selectorText));
  const isDark = root.colorScheme === "dark" || (root.colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const tokens = rules.find(({ selectorText }) => selectorText === ":root");
  const values = [...(tokens?.style ?? [])].filter((name) => name.startsWith("--")).map((name) => `${name}:${tokens?.style.getPropertyValue(name)}`);
  const scheme = `svg{color-scheme:${isDark ? "dark" : "light"};${values.join(";")}}`;
  return [scheme, ".ground{fill:var(--pane)}", ...own.map(({ cssText }) => cssText)].join("\n");
}
