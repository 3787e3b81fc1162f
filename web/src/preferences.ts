// What a user prefers, kept by the browser where it keeps anything.

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export interface Preferences {
  theme: Theme;
  /** Whether keys without Ctrl or Alt do something outside of fields. */
  singleKeys: boolean;
}

const NAME = "apportion";

export function preferences(): Preferences {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    const { theme, singleKeys } = typeof kept === "object" && kept !== null ? (kept as Record<string, unknown>) : {};
    return { theme: THEMES.find((known) => known === theme) ?? "system", singleKeys: singleKeys !== false };
  } catch {
    return { theme: "system", singleKeys: true };
  }
}

/** Keeps them, and gives the page its theme. */
export function prefer(changed: Partial<Preferences>): Preferences {
  const all = { ...preferences(), ...changed };
  try {
    localStorage.setItem(NAME, JSON.stringify(all));
  } catch {
    // Nothing is kept here; this time it holds all the same.
  }
  applyTheme(all.theme);
  return all;
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
