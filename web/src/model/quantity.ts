// Kubernetes quantities, exact, for sums that are shown.

const EXPONENTS: Record<string, number> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Nanounits, the smallest part that a quantity can have. */
export type Nano = bigint;

const NANO = 1_000_000_000n;

/** The amount in nanounits; undefined where it is none. */
export function parse(text: string): Nano | undefined {
  const match = /^([+-]?)(\d+)?(?:\.(\d*))?(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d{1,2}))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", suffix = "", exponent = "0"] = match;
  if (whole === "" && fraction === "") return undefined;
  const binary = suffix.length === 2 ? 1024n ** BigInt(BINARY.indexOf(suffix)) : 1n;
  const power = 9 + (suffix.length === 2 ? 0 : (EXPONENTS[suffix] ?? 0)) + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction) * binary;
  // Smaller parts than the smallest are rounded up, as Kubernetes does.
  const amount = power >= 0 ? digits * 10n ** BigInt(power) : -(-digits / 10n ** BigInt(-power));
  return sign === "-" ? -amount : amount;
}

/** The amount, in the binary units of `like` where that has some: `30Gi`, `1536Mi`, `2500m`. */
export function format(amount: Nano, like: string): string {
  if (amount < 0n) return `-${format(-amount, like)}`;
  if (/i$/.test(like)) {
    for (let level = BINARY.length - 1; level > 0; level -= 1) {
      const unit = NANO * 1024n ** BigInt(level);
      if (amount !== 0n && amount % unit === 0n) return `${amount / unit}${BINARY[level]}`;
    }
  }
  if (amount % NANO === 0n) {
    const suffix = /[kMGTPE]$/.exec(like)?.[0];
    const unit = suffix === undefined ? 1n : 10n ** BigInt(EXPONENTS[suffix] ?? 0);
    const whole = amount / NANO;
    return suffix !== undefined && whole !== 0n && whole % unit === 0n ? `${whole / unit}${suffix}` : String(whole);
  }
  return amount % 1_000_000n === 0n ? `${amount / 1_000_000n}m` : `${amount}n`;
}

/** A part of a whole between 0 and 1; 0 where there is no whole. */
export function ratio(part: Nano, whole: Nano): number {
  if (whole <= 0n) return 0;
  return Math.max(0, Math.min(1, Number((part * 10_000n) / whole) / 10_000));
}
