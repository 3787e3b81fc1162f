// The picture as a file: SVG with its own styles, or PNG.

import { render } from "preact";
import type { ComponentChildren } from "preact";

import type { Model } from "../model/model";
import { type Level, MANY_DEVICES } from "../model/zoom";
import { BoxShape, TileShape } from "../picture/boxes";
import { layout, visible } from "../picture/layout";
import { SQUARE, Scale, cellsOf, squareOf } from "../picture/levels";
import * as words from "../words";

/** Wide enough for four nodes beside each other. */
const WIDTH = 1000;
const MARGIN = 12;

/** Part of a picture that is as wide as this, from one height to another. */
export interface Cutting {
  width: number;
  top: number;
  bottom: number;
}

/** What is drawn: a model at a level, a part of it where there is one. */
export interface Drawing {
  model: Model;
  level: Level;
  cutting?: Cutting | undefined;
}

interface Shapes {
  width: number;
  height: number;
  shapes: ComponentChildren;
}

/** The part of the picture on the page that is in view; nothing where there is none. */
export function inView(): Cutting | undefined {
  const picture = document.querySelector("#panel .picture:not(.heatmap) > svg")?.getBoundingClientRect();
  const panel = document.getElementById("panel")?.getBoundingClientRect();
  if (picture === undefined || panel === undefined) return undefined;
  const top = Math.max(0, Math.max(0, panel.top) - picture.top);
  const bottom = Math.min(picture.height, Math.min(window.innerHeight, panel.bottom) - picture.top);
  return bottom > top && picture.width > 0 ? { width: picture.width, top, bottom } : undefined;
}

/** An SVG that needs nothing of the page. */
export function svgOf(drawing: Drawing): { text: string; width: number; height: number } {
  const { width, height, shapes } = drawing.level === "cluster" ? squares(drawing.model) : boxes(drawing, drawing.level);
  const [outerWidth, outerHeight] = [width + 2 * MARGIN, height + 2 * MARGIN];
  const top = drawing.cutting?.top ?? 0;
  const holder = document.createElement("div");
  render(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      class="picture"
      width={outerWidth}
      height={outerHeight}
      viewBox={`${-MARGIN} ${top - MARGIN} ${outerWidth} ${outerHeight}`}
    >
      <style>{styles()}</style>
      <rect class="ground" x={-MARGIN} y={top - MARGIN} width={outerWidth} height={outerHeight} />
      {shapes}
    </svg>,
    holder,
  );
  const [svg] = holder.children;
  const text = svg === undefined ? "" : new XMLSerializer().serializeToString(svg);
  render(null, holder);
  return { text, width: outerWidth, height: outerHeight };
}

function boxes({ model, cutting }: Drawing, detail: Exclude<Level, "cluster">): Shapes {
  // Many devices become as wide as they become high.
  const width = cutting?.width ?? WIDTH * Math.ceil(Math.sqrt(model.devices / MANY_DEVICES));
  const placed = layout(model, width, detail);
  const { top, bottom } = cutting ?? { top: 0, bottom: placed.height };
  const shapes = visible(placed.boxes, top, bottom).map((box) =>
    box.kind === "tile" ? <TileShape box={box} isPicked={false} isReachable={false} /> : <BoxShape box={box} />,
  );
  return { width, height: bottom - top, shapes };
}

function squares(model: Model): Shapes {
  const cells = cellsOf(model);
  const columns = Math.max(20, Math.ceil(Math.sqrt(cells.length * 2)));
  const end = Math.ceil(cells.length / columns) * SQUARE + MARGIN;
  const shapes = (
    <>
      {cells.map((cell, index) => (
        <rect {...squareOf(cell, index, columns)}>
          <title>{words.cell(cell)}</title>
        </rect>
      ))}
      <text x="0" y={end + 13}>
        {words.FREE}
      </text>
      <Scale x={40} y={end} />
      <text x={48 + 5 * SQUARE} y={end + 13}>
        {words.IN_USE}
      </text>
    </>
  );
  return { width: columns * SQUARE, height: end + SQUARE, shapes };
}

/** No canvas may be longer than this, or have more pixels. */
const LONGEST = 16_000;
const MOST_PIXELS = 120_000_000;

export async function pngOf(drawing: Drawing): Promise<Blob> {
  const { text, width, height } = svgOf(drawing);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  // Twice the size, for screens and paper.
  const scale = Math.min(2, LONGEST / Math.max(width, height), Math.sqrt(MOST_PIXELS / (width * height)));
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
