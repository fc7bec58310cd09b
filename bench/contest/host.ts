import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drive } from "./contestant.ts";
import type { Load, Open, Took } from "./contestant.ts";
import { measureDepth } from "./depth.ts";
import type { AtDepth, Depth } from "./depth.ts";

/* One contestant in a process of its own: gets it ready, warms it up, measures, and says the result as a line of JSON. */

/** Whom to measure, and how. */
export interface Order {
  /** The file, from this folder's parent, and the name of what opens the contestant in it. */
  readonly module: string;
  readonly open: string;
  readonly loads?: readonly Load[];
  readonly depths?: readonly Depth[];
}

/** What came out, in the order that was asked for. */
export interface Measured {
  readonly loads: readonly Took[];
  readonly depths: readonly AtDepth[];
}

/** What is driven before anything is measured, for so long: the first thousands of steps compile the code. */
const WARM_UP: Load = { runs: 1, steps: 50, times: 1 };
const WARM_UP_MS = 1500;

async function measure(order: Order): Promise<Measured> {
  const module = (await import(`../${order.module}`)) as { readonly [name: string]: Open };
  const open = module[order.open];
  if (open === undefined) throw new Error(`${order.module} has no ${order.open}.`);
  const folder = mkdtempSync(join(tmpdir(), "vidro-bench-"));
  try {
    const contestant = await open(folder);
    for (const until = performance.now() + WARM_UP_MS; performance.now() < until;) await drive(contestant, WARM_UP);
    const loads: Took[] = [];
    for (const load of order.loads ?? []) loads.push(await drive(contestant, load));
    await contestant.close();
    const depths: AtDepth[] = [];
    for (const depth of order.depths ?? []) depths.push(await measureDepth(open, depth));
    return { loads, depths };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const measured = await measure(JSON.parse(process.argv[2] ?? "{}") as Order);
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit(0));
