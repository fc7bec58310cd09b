/** The middle of some numbers, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** The spread of some numbers. */
export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
  return { median, least: sorted[0] ?? NaN, most: sorted.at(-1) ?? NaN };
}

/** What something takes that is done so many times in a row: the time in the middle, which a hiccup does not move. */
export async function medianMs(count: number, work: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let time = 0; time < count; time += 1) {
    const begun = performance.now();
    await work();
    took.push(performance.now() - begun);
  }
  return spreadOf(took).median;
}

/** The spread of the ratios of two rows of numbers, round by round: noise that both had in a round falls out. */
export function ratioOf(numbers: readonly number[], to: readonly number[]): Spread {
  const rounds = Math.min(numbers.length, to.length);
  return spreadOf(Array.from({ length: rounds }, (_, round) => (numbers[round] ?? NaN) / (to[round] ?? NaN)));
}

/** A number for people: as many digits as it deserves. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** A ratio with its spread for people: `1.21 × (1.10–1.34)`. */
export function times({ median, least, most }: Spread): string {
  return Number.isFinite(median) ? `${figure(median)} × (${figure(least)}–${figure(most)})` : "–";
}
