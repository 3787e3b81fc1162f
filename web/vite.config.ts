import { defineConfig } from "vite";

// The page asks for nothing but its own files; the browser holds it to that. Not while developing: Vite's client puts
// styles into the page and talks to its server.
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  // CodeMirror makes its styles while running, under this name.
  "style-src 'self' 'nonce-editor'",
  "img-src 'self' data:",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

export default defineConfig({
  // Relative, so that the files work under any address.
  base: "./",
  build: { target: "es2022", modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
  worker: { format: "es" },
  server: { fs: { allow: [".."] } },
  plugins: [
    {
      name: "content-security-policy",
      apply: "build",
      transformIndexHtml: () => [
        { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
      ],
    },
  ],
});
