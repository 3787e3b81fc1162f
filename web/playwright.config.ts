import { existsSync } from "node:fs";

import { defineConfig } from "@playwright/test";

/** Another one for each checkout that is tested at the same time. */
const PORT = Number(process.env.PORT ?? 4173);

/** The browser: the system's own, none is downloaded. */
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(CHROMIUM)) {
  throw new Error(`there is no browser at ${CHROMIUM}: install Chromium or name one in CHROMIUM`);
}

export default defineConfig({
  testDir: "e2e",
  outputDir: "node_modules/.e2e",
  workers: 1,
  reporter: "line",
  // The machine may do other things at the same time.
  expect: { timeout: 10_000 },
  use: {
    baseURL: `http://localhost:${PORT}/`,
    // Only the tests of the installed page have one: it would answer in the place of what a test puts there.
    serviceWorkers: "block",
    viewport: { width: 1360, height: 860 },
    launchOptions: {
      executablePath: CHROMIUM,
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    },
  },
  webServer: { command: `npx vite preview --port ${PORT} --strictPort`, port: PORT, reuseExistingServer: false },
});
