// Two texts line by line: what goes, what comes, and a little around it.

export interface DiffLine {
  kind: "same" | "gone" | "new" | "gap";
  text: string;
}

/** Lines around a change that are shown. */
const AROUND = 3;

/** More differing lines than this are not matched with each other: all go, all come. */
const MOST_MATCHED = 600;

export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const middle = matched(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const same = (texts: readonly string[]): DiffLine[] => texts.map((text) => ({ kind: "same", text }));
  return shortened([...same(old.slice(0, start)), ...middle, ...same(old.slice(old.length - end))]);
}

/** The longest common subsequence stays. */
function matched(old: readonly string[], now: readonly string[]): DiffLine[] {
  const gone = (texts: readonly string[]): DiffLine[] => texts.map((text) => ({ kind: "gone", text }));
  const come = (texts: readonly string[]): DiffLine[] => texts.map((text) => ({ kind: "new", text }));
  if (Math.max(old.length, now.length) > MOST_MATCHED) return [...gone(old), ...come(now)];
  // For each pair of positions the length of what is common behind them.
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      common[row * width + column] = old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < now.length) {
    if (old[row] === now[column]) {
      lines.push({ kind: "same", text: old[row] ?? "" });
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) lines.push({ kind: "gone", text: old[row++] ?? "" });
    else lines.push({ kind: "new", text: now[column++] ?? "" });
  }
  return [...lines, ...gone(old.slice(row)), ...come(now.slice(column))];
}

/** What is far from every change is left out. */
function shortened(lines: readonly DiffLine[]): DiffLine[] {
  const near = new Set<number>();
  for (const [index, { kind }] of lines.entries()) {
    if (kind !== "same") for (let beside = index - AROUND; beside <= index + AROUND; beside += 1) near.add(beside);
  }
  const shown: DiffLine[] = [];
  for (const [index, line] of lines.entries()) {
    if (near.has(index)) shown.push(line);
    else if (shown.length > 0 && shown.at(-1)?.kind !== "gap") shown.push({ kind: "gap", text: "" });
  }
  if (shown.at(-1)?.kind === "gap") shown.pop();
  return shown;
}
