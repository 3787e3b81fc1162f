import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";

import { type Plugin, defineConfig } from "vite";

const MODULE = "node_modules/apportion/dist/apportion_bg.wasm";

/** Another one for each build, and the same for equal sources: a hash of everything that the page is made from. */
const STYLE_NONCE = (() => {
  const hash = createHash("sha256");
  const sources = ["index.html", "embed.html", "package-lock.json", MODULE];
  for (const entry of readdirSync("src", { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sources.push(`${entry.parentPath}/${entry.name}`);
  }
  for (const source of sources.sort()) hash.update(`${source}\0`).update(readFileSync(source)).update("\0");
  return hash.digest("base64url").slice(0, 22);
})();

/** Hosts that links may name, as origins: none, unless APPORTION_HOSTS named some when the page was built. */
const HOSTS = (process.env.APPORTION_HOSTS ?? "").split(/[\s,]+/).filter((host) => host !== "").map((host) => new URL(host).origin);

// The page asks for nothing but its own files; the browser holds it to that. Not while developing: Vite's client puts
// styles into the page and talks to its server.
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  // CodeMirror makes its styles while running, under this name.
  `style-src 'self' 'nonce-${STYLE_NONCE}'`,
  "img-src 'self' data:",
  "manifest-src 'self'",
  ...(HOSTS.length === 0 ? [] : [`connect-src ${HOSTS.join(" ")}`]),
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
      for (const name of existsSync("dist") ? filesBelow("dist") : []) {
        if (files.includes(name) || name === "index.html" || name === "service-worker.js") continue;
        version.update(name).update(readFileSync(`dist/${name}`));
        files.push(name);
      }
      for (const name of readdirSync("public").filter((name) => !files.includes(name))) {
        version.update(name).update(readFileSync(`public/${name}`));
        files.push(name);
      }
      const constants = { FILES: files.sort(), VERSION: version.digest("hex").slice(0, 16) };
      const head = Object.entries(constants).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};\n`);
      this.emitFile({ type: "asset", fileName: "service-worker.js", source: head.join("") + readFileSync("src/service-worker.js", "utf8") });
    },
  },
};

/** What is in the folder before this build: the picture for other pages. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(folder.length + 1));
}

// Two builds into one folder, first `--mode embed`: together, the small page would share large chunks with the large one.
export default defineConfig(({ mode }) => {
  const isEmbed = mode === "embed";
  return {
    // Relative, so that the files work under any address.
    base: "./",
    define: { HOSTS: JSON.stringify(HOSTS), STYLE_NONCE: JSON.stringify(STYLE_NONCE), MODULE_BYTES: String(statSync(MODULE).size) },
    build: {
      target: "es2022", modulePreload: { polyfill: false }, assetsInlineLimit: 0, emptyOutDir: isEmbed,
      rolldownOptions: { input: isEmbed ? "embed.html" : "index.html" },
    },
    worker: { format: "es" },
    server: { fs: { allow: [".."] } },
    plugins: isEmbed ? [policy] : [policy, offline],
  };
});
