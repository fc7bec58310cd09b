/*
 * A text as a QR code (ISO/IEC 18004): bytes, versions 1 to 10, error correction level M. That holds 213 bytes, enough
 * for an address with a code in it; a longer text is refused.
 */

/** One version: code words of data in each block, how many such blocks, and code words of correction in a block. */
interface QrSize {
  readonly blocks: readonly number[];
  readonly correction: number;
  /** Centres of the alignment patterns, in both directions. */
  readonly centres: readonly number[];
}

const VERSIONS: readonly QrSize[] = [
  { blocks: [16], correction: 10, centres: [] },
  { blocks: [28], correction: 16, centres: [6, 18] },
  { blocks: [44], correction: 26, centres: [6, 22] },
  { blocks: [32, 32], correction: 18, centres: [6, 26] },
  { blocks: [43, 43], correction: 24, centres: [6, 30] },
  { blocks: [27, 27, 27, 27], correction: 16, centres: [6, 34] },
  { blocks: [31, 31, 31, 31], correction: 18, centres: [6, 22, 38] },
  { blocks: [38, 38, 39, 39], correction: 22, centres: [6, 24, 42] },
  { blocks: [36, 36, 36, 37, 37], correction: 22, centres: [6, 26, 46] },
  { blocks: [43, 43, 43, 43, 44], correction: 26, centres: [6, 28, 50] },
];

/** Bits that carry the version are there from this one on; it is also where the length takes two bytes only from 10 on. */
const WITH_VERSION = 7;
const LONG_LENGTH = 10;
const LEVEL_M = 0;
const MASKS: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
];

/** A row and a column. */
type Place = readonly [row: number, column: number];

/** A square of dark and light modules; undefined is not drawn yet. */
type Grid = (boolean | undefined)[][];

/** The rows of a QR code with a text, true where it is dark; undefined for a text that is too long. */
export function qrCode(text: string): readonly (readonly boolean[])[] | undefined {
  const bytes = new TextEncoder().encode(text);
  const index = VERSIONS.findIndex(({ blocks }, at) => bytes.length <= roomIn(blocks, at + 1));
  const found = VERSIONS[index];
  if (found === undefined) return undefined;
  const version = index + 1;
  const frame = drawFrame(version, found.centres);
  const bits = bitsOf(interleave(wordsOf(bytes, found.blocks, version), found));
  const drawn = MASKS.map((isTurned, mask) => {
    const grid = frame.map((row) => [...row]);
    fill(grid, bits, isTurned);
    drawFormat(grid, mask);
    return grid.map((row) => row.map((cell) => cell === true));
  });
  return drawn.reduce((best, one) => (penaltyOf(one) < penaltyOf(best) ? one : best));
}

function roomIn(blocks: readonly number[], version: number): number {
  const whole = blocks.reduce((sum, words) => sum + words, 0);
  // The mode takes half a byte, the length one or two, and the end at least the other half.
  return whole - (version < LONG_LENGTH ? 2 : 3);
}

/** The code words of data: mode, length, the bytes, and padding up to the room of the version. */
function wordsOf(bytes: Uint8Array, blocks: readonly number[], version: number): readonly number[] {
  const room = blocks.reduce((sum, words) => sum + words, 0);
  const head =
    version < LONG_LENGTH
      ? [4, bytes.length >> 4, bytes.length]
      : [4, bytes.length >> 12, bytes.length >> 8, bytes.length >> 4, bytes.length];
  const nibbles = [...head.map((value) => value & 15), ...[...bytes].flatMap((byte) => [byte >> 4, byte & 15]), 0];
  const words: number[] = [];
  for (let at = 0; at + 1 < nibbles.length; at += 2) words.push(((nibbles[at] ?? 0) << 4) | (nibbles[at + 1] ?? 0));
  for (let pad = 0; words.length < room; pad += 1) words.push(pad % 2 === 0 ? 0xec : 0x11);
  return words;
}

/** Words of all blocks in turn, then their words of correction in turn. */
function interleave(words: readonly number[], { blocks, correction }: QrSize): readonly number[] {
  let from = 0;
  const parts = blocks.map((length) => words.slice(from, (from += length)));
  const checks = parts.map((part) => correctionOf(part, correction));
  const longest = Math.max(...blocks);
  const turn = (lists: readonly (readonly number[])[], length: number): readonly number[] =>
    Array.from({ length }, (_, at) => lists.flatMap((list) => (at < list.length ? [list[at] ?? 0] : []))).flat();
  return [...turn(parts, longest), ...turn(checks, correction)];
}

/** Powers of 2 in the field of 256 elements, and their logarithms. */
const POWERS: number[] = [];
const LOGARITHMS: number[] = [];
for (let power = 0, value = 1; power < 255; power += 1) {
  POWERS[power] = value;
  LOGARITHMS[value] = power;
  value = value << 1;
  if (value > 255) value ^= 0x11d;
}

function multiply(one: number, other: number): number {
  if (one === 0 || other === 0) return 0;
  return POWERS[((LOGARITHMS[one] ?? 0) + (LOGARITHMS[other] ?? 0)) % 255] ?? 0;
}

/** The remainder of a block, by which a reader mends what it misread (Reed and Solomon). */
function correctionOf(block: readonly number[], length: number): readonly number[] {
  let divisor: number[] = [1];
  for (let root = 0; root < length; root += 1) {
    const next = [...divisor, 0];
    divisor.forEach((value, at) => {
      next[at + 1] = (next[at + 1] ?? 0) ^ multiply(value, POWERS[root] ?? 0);
    });
    divisor = next;
  }
  const rest = [...block, ...Array.from({ length }, () => 0)];
  for (let at = 0; at < block.length; at += 1) {
    const factor = rest[at] ?? 0;
    divisor.forEach((value, offset) => {
      rest[at + offset] = (rest[at + offset] ?? 0) ^ multiply(value, factor);
    });
  }
  return rest.slice(block.length);
}

function bitsOf(words: readonly number[]): readonly boolean[] {
  return words.flatMap((word) => Array.from({ length: 8 }, (_, bit) => ((word >> (7 - bit)) & 1) === 1));
}

/** Everything but the data: finders, timing, alignment, the version, and places that the format takes. */
function drawFrame(version: number, centres: readonly number[]): Grid {
  const size = 17 + 4 * version;
  const grid: Grid = Array.from({ length: size }, () => Array.from({ length: size }, () => undefined));
  for (let at = 0; at < size; at += 1) {
    setCell(grid, [6, at], at % 2 === 0);
    setCell(grid, [at, 6], at % 2 === 0);
  }
  for (const row of centres)
    for (const column of centres) {
      const isAtFinder = (row === 6 && (column === 6 || column === size - 7)) || (column === 6 && row === size - 7);
      if (!isAtFinder) drawSquare(grid, [row, column], 2);
    }
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const)
    drawSquare(grid, [row, column], 4);
  if (version >= WITH_VERSION) drawVersion(grid, version);
  drawFormat(grid, 0);
  return grid;
}

function setCell(grid: Grid, [row, column]: Place, isDark: boolean): void {
  const line = grid[row];
  if (line !== undefined && column >= 0 && column < line.length) line[column] = isDark;
}

/** Squares inside each other: those of an alignment pattern reach 2 from the centre, those of a finder 4, with its rim. */
function drawSquare(grid: Grid, [row, column]: Place, reach: number): void {
  for (let down = -reach; down <= reach; down += 1)
    for (let right = -reach; right <= reach; right += 1) {
      const ring = Math.max(Math.abs(down), Math.abs(right));
      const isDark = reach === 2 ? ring !== 1 : ring !== 2 && ring !== 4;
      setCell(grid, [row + down, column + right], isDark);
    }
}

/** Fifteen bits about level and mask, beside each finder. */
function drawFormat(grid: Grid, mask: number): void {
  const size = grid.length;
  const data = (LEVEL_M << 3) | mask;
  const bits = ((data << 10) | remainder(data, 10, 0x537)) ^ 0x5412;
  for (let bit = 0; bit < 15; bit += 1) {
    const isDark = ((bits >> bit) & 1) === 1;
    const near = bit < 6 ? bit : bit < 8 ? bit + 1 : size - 15 + bit;
    setCell(grid, [near, 8], isDark);
    const across = bit < 8 ? size - 1 - bit : bit === 8 ? 7 : 14 - bit;
    setCell(grid, [8, across], isDark);
  }
  setCell(grid, [size - 8, 8], true);
}

/** Eighteen bits about the version, beside two finders. */
function drawVersion(grid: Grid, version: number): void {
  const bits = (version << 12) | remainder(version, 12, 0x1f25);
  for (let bit = 0; bit < 18; bit += 1) {
    const [far, near] = [grid.length - 11 + (bit % 3), Math.floor(bit / 3)];
    setCell(grid, [far, near], ((bits >> bit) & 1) === 1);
    setCell(grid, [near, far], ((bits >> bit) & 1) === 1);
  }
}

function remainder(data: number, degree: number, divisor: number): number {
  let rest = data;
  for (let step = 0; step < degree; step += 1) rest = (rest << 1) ^ ((rest >> (degree - 1)) * divisor);
  return rest;
}

/** Fills what is free with the data, in columns of two from the right, up and down, under a mask. */
function fill(grid: Grid, bits: readonly boolean[], isTurned: (row: number, column: number) => boolean): void {
  const size = grid.length;
  let at = 0;
  let isUpward = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) {
      const row = isUpward ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (grid[row]?.[column] !== undefined) continue;
        setCell(grid, [row, column], (bits[at] ?? false) !== isTurned(row, column));
        at += 1;
      }
    }
    isUpward = !isUpward;
  }
}

/** How hard a code is to read: long lines of one colour, squares, patterns like a finder's, and too much of one colour. */
function penaltyOf(grid: readonly (readonly boolean[])[]): number {
  const size = grid.length;
  const columns = grid.map((_, column) => grid.map((row) => row[column] === true));
  const lines = [...grid, ...columns].map((line) => line.map((cell) => (cell ? "1" : "0")).join(""));
  const runs = lines.flatMap((line) => line.match(/0{5,}|1{5,}/g) ?? []).reduce((sum, run) => sum + run.length - 2, 0);
  const finders = lines.flatMap((line) => line.match(/(?=10111010000|00001011101)/g) ?? []).length * 40;
  let [squares, dark] = [0, 0];
  for (let row = 0; row < size; row += 1)
    for (let column = 0; column < size; column += 1) {
      const cell = grid[row]?.[column];
      if (cell === true) dark += 1;
      const isSquare = [grid[row]?.[column + 1], grid[row + 1]?.[column], grid[row + 1]?.[column + 1]].every(
        (other) => other === cell,
      );
      if (isSquare) squares += 3;
    }
  return runs + finders + squares + Math.floor(Math.abs((dark / size ** 2) * 20 - 10)) * 10;
}
