// Keeps the page's files, so that it works offline. The build puts FILES and VERSION in front; see vite.config.ts.

/* global FILES, VERSION */

const CACHE = `apportion ${VERSION}`;

/**
 * The page's own policy stands in its text; a thread has that of its own answer. So this is where the engine's thread learns that the
 * module is the only thing that it may load. Nothing here leaves the cache for anywhere but the page's own server.
 */
const module = FILES.find((file) => file.endsWith(".wasm"));
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  `connect-src ${new URL(module ?? "", self.registration.scope).href}`,
].join("; ");

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
});

self.addEventListener("activate", (event) => {
  const clean = async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith("apportion ") && name !== CACHE) await caches.delete(name);
    }
    await self.clients.claim();
  };
  event.waitUntil(clean());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  event.respondWith(answer(request, url));
});

async function answer(request, url) {
  const cache = await caches.open(CACHE);
  // The page itself answers for whatever is navigated to below it, but for the picture of other pages.
  const isPage = request.mode === "navigate" && !url.pathname.endsWith("/embed.html");
  const kept = await cache.match(isPage ? "./" : url.pathname, { ignoreSearch: true });
  if (kept === undefined) return fetch(request);
  if (request.destination !== "worker") return kept;
  const headers = new Headers(kept.headers);
  headers.set("Content-Security-Policy", POLICY);
  return new Response(kept.body, { status: kept.status, statusText: kept.statusText, headers });
}
