// The npm package where others use it: in a plain page, in a worker, and in the bundles of Vite and webpack, without configuration.

import { createReadStream, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect } from "@playwright/test";
import { build } from "vite";
import webpack from "webpack";

import { test } from "./helpers";

// Below the page's own packages, so that `apportion` is found as in any project that depends on it.
const FOLDER = fileURLToPath(new URL("../node_modules/.package/", import.meta.url));
const PACKAGE = fileURLToPath(new URL("../../npm/dist/", import.meta.url));
const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

const question = `{ expression: 'device.driver == "a"', device: { driver: "a" } }`;
const main = (from: string) => `
  import { evaluate, init } from "${from}";
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }) => {
    document.querySelector("#worker").textContent = data;
  });
  await init();
  document.querySelector("#page").textContent = evaluate(${question}).status;
`;
const worker = (from: string) => `
  import { evaluate, init } from "${from}";
  init().then(() => postMessage(evaluate(${question}).status));
`;
const html = (script: string) =>
  `<!doctype html><title>test</title><p id="page"></p><p id="worker"></p><script type="module" src="${script}"></script>`;

let server: Server;
let address: string;

test.beforeAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  for (const name of ["plain", "vite", "webpack"]) {
    const folder = join(FOLDER, name);
    mkdirSync(folder, { recursive: true });
    const from = name === "plain" ? "/apportion/index.js" : "apportion";
    writeFileSync(join(folder, "main.js"), main(from));
    writeFileSync(join(folder, "worker.js"), worker(from));
    writeFileSync(join(folder, "index.html"), html(name === "webpack" ? "./dist/main.js" : "./main.js"));
  }
  server = createServer(({ url }, response) => {
    const path = new URL(url ?? "/", "http://localhost").pathname;
    const file = path.startsWith("/apportion/") ? join(PACKAGE, path.slice("/apportion/".length)) : join(FOLDER, path);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" });
    return createReadStream(file).pipe(response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  address = `http://localhost:${(server.address() as AddressInfo).port}`;
});

test.afterAll(() => server.close());

test("a page without any tool", async ({ page }) => {
  await page.goto(`${address}/plain/index.html`);
  await expect(page.locator("#page")).toHaveText("match");
  await expect(page.locator("#worker")).toHaveText("match");
});

test("a bundle of Vite", async ({ page }) => {
  await build({ root: join(FOLDER, "vite"), base: "./", configFile: false, logLevel: "error" });
  await page.goto(`${address}/vite/dist/index.html`);
  await expect(page.locator("#page")).toHaveText("match");
  await expect(page.locator("#worker")).toHaveText("match");
});

test("a bundle of webpack", async ({ page }) => {
  const folder = join(FOLDER, "webpack");
  const stats = await new Promise<webpack.Stats | undefined>((done, failed) => {
    webpack({ mode: "production", context: folder, entry: "./main.js", output: { path: join(folder, "dist") } }, (error, stats) =>
      error ? failed(error) : done(stats),
    );
  });
  expect(stats?.toJson({ all: false, errors: true, warnings: true })).toMatchObject({ errors: [] });
  await page.goto(`${address}/webpack/index.html`);
  await expect(page.locator("#page")).toHaveText("match");
  await expect(page.locator("#worker")).toHaveText("match");
});
