// The installed page works without a network: a service worker keeps its files.

export function keepOffline(): void {
  // Without one the page works all the same, as long as its server is there.
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  addEventListener("load", () => void navigator.serviceWorker.register("service-worker.js").catch(() => undefined));
}
