import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";

import { type Plugin, defineConfig } from "vite";

const MODULE = "node_modules/apportion/dist/apportion_bg.wasm";

/** Another one for each build, and the same for equal sources: a hash of everything that the page is made from. */
const STYLE_NONCE = (() => {
  const hash = createHash("sha256");
  const sources = ["index.html", "package-lock.json", MODULE];
  for (const entry of readdirSync("src", { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sources.push(`${entry.parentPath}/${entry.name}`);
  }
  for (const source of sources.sort()) hash.update(`${source}\0`).update(readFileSync(source)).update("\0");
  return hash.digest("base64url").slice(0, 22);
})();

// The page asks for nothing but its own files; the browser holds it to that. Not while developing: Vite's client puts
// styles into the page and talks to its server.
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  // CodeMirror makes its styles while running, under this name.
  `style-src 'self' 'nonce-${STYLE_NONCE}'`,
  "img-src 'self' data:",
  "manifest-src 'self'",
  // The engine's thread and the service worker. What these may load is said where they are answered, see src/service-worker.js:
  // for the page itself every connection stays forbidden.
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const policy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
  ],
};

/** The service worker, with the names of all files that it keeps and a version that changes with any of them. */
const offline: Plugin = {
  name: "service-worker",
  apply: "build",
  generateBundle: {
    order: "post",
    handler(_, bundle) {
      const version = createHash("sha256");
      const files = ["./"];
      for (const [name, file] of Object.entries(bundle)) {
        version.update(name).update(file.type === "chunk" ? file.code : file.source);
        // The page itself is kept as the folder that it is the index of.
        if (name !== "index.html") files.push(name);
      }
      for (const name of readdirSync("public")) {
        version.update(name).update(readFileSync(`public/${name}`));
        files.push(name);
      }
      const constants = { FILES: files.sort(), VERSION: version.digest("hex").slice(0, 16) };
      const head = Object.entries(constants).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};\n`);
      this.emitFile({ type: "asset", fileName: "service-worker.js", source: head.join("") + readFileSync("src/service-worker.js", "utf8") });
    },
  },
};

export default defineConfig({
  // Relative, so that the files work under any address.
  base: "./",
  define: { STYLE_NONCE: JSON.stringify(STYLE_NONCE), MODULE_BYTES: String(statSync(MODULE).size) },
  build: { target: "es2022", modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  worker: { format: "es" },
  server: { fs: { allow: [".."] } },
  plugins: [policy, offline],
});
