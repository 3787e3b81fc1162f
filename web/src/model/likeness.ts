// Texts that say the same of several subjects.

/** A text without the names of a subject and of the claims that it uses. */
export function anonymous(text: string, subject: string, claims: readonly string[]): string {
  let told = text;
  for (const [number, claim] of claims.entries()) told = told.replace(whole(claim), `<claim ${number}>`);
  // Claims of a Pod are named after it.
  return told.replace(whole(subject, "(-[a-z0-9]+)*"), "<subject>");
}

/** A name that is no part of another one, and what may follow it. */
function whole(name: string, more = ""): RegExp {
  return new RegExp(`(?<![\\w.-])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}${more}(?![\\w-]|\\.\\w)`, "g");
}
