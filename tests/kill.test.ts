import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { bundledCommands } from "../scripts/test-bundle.js";
import { processesIn } from "./support/processes.ts";
import { temporaryFolder } from "./support/local-runs.ts";

/*
 * The promise, tried on real processes: `vidro` is killed with SIGKILL again and again, at points that differ each
 * time, and taken up again, until each run is over.
 */

const KILLS = 200;
const EFFECTS = 6;
const LANES = 4;

interface Line {
  readonly seq: number;
  readonly event: string;
  readonly [field: string]: unknown;
}

/** Where a life ends: so many milliseconds after its n-th line. */
interface Death {
  readonly line: number;
  readonly afterMs: number;
}

/** One life of the process; gives the lines it printed and whether it got to the end. */
async function live(
  args: readonly string[],
  where: { vidro: string; workspace: string; home: string },
  death?: Death,
): Promise<{ lines: Line[]; over: boolean; errors: string }> {
  const child = spawn(where.vidro, args, {
    cwd: where.workspace,
    env: { ...process.env, VIDRO_HOME: where.home, VIDRO_MODEL: "offline" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: Line[] = [];
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const closed = new Promise<void>((done) => child.on("close", () => done()));
  for await (const text of createInterface({ input: child.stdout })) {
    // What a dying process could not finish writing was not acknowledged.
    const line = parsed(text);
    if (line === undefined) continue;
    lines.push(line);
    if (lines.length === death?.line) setTimeout(() => child.kill("SIGKILL"), death.afterMs);
  }
  await closed;
  return { lines, over: /^run\.(finished|failed|aborted)$/.test(lines.at(-1)?.event ?? ""), errors };
}

function parsed(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

/** A run with effects, killed until it is over; returns how many kills it took. */
async function survive(t: TestContext, vidro: string, deaths: Iterator<Death>): Promise<number> {
  const folder = temporaryFolder(t);
  const where = { vidro, workspace: join(folder, "workspace"), home: join(folder, "home") };
  mkdirSync(where.workspace);
  const effect = (nth: number): string => `"sleep 0.02; echo ${nth} >> effects.txt; sleep 0.02"`;
  const task = `run ${Array.from({ length: EFFECTS }, (_, index) => effect(index + 1)).join(" and ")}`;

  const acknowledged = new Map<number, string>();
  let kills = 0;
  for (let life = 0; ; life++) {
    const after = String(acknowledged.size);
    const args =
      after === "0"
        ? ["run", "--json", "--yes", "--key", "once", task]
        : ["attach", "--last", "--after", after, "--json", "--yes"];
    const next = deaths.next();
    const { lines, over, errors } = await live(args, where, next.done === true ? undefined : next.value);
    for (const line of lines) {
      assert.equal(line.seq, acknowledged.size + 1, "each entry comes once and in its place");
      acknowledged.set(line.seq, JSON.stringify(line));
    }
    if (over) break;
    kills += 1;
    assert.ok(life < 100, `the run does not end: ${errors}`);
  }
  const { lines } = await live(["attach", "--last", "--json"], where);
  assert.deepEqual(
    lines.map((line) => JSON.stringify(line)),
    [...acknowledged.values()],
    "the journal is what was acknowledged, to the letter",
  );
  assertEffects(where.workspace, [...acknowledged.values()]);
  assert.deepEqual(processesIn(where.workspace), [], "no process is left behind");
  return kills;
}

function assertEffects(workspace: string, lines: readonly string[]): void {
  const file = join(workspace, "effects.txt");
  const effects = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  assert.equal(new Set(effects).size, effects.length, `an effect was doubled: ${effects.join(" ")}`);
  const unknown = lines.filter((line) => line.includes('"event":"action.unknown"')).length;
  assert.ok(effects.length >= EFFECTS - unknown, `${effects.length} effects, ${unknown} unknown: ${lines.join("\n")}`);
}

/** Deaths all over a life: after each of its lines, at once and a little later. */
function* allDeaths(): Generator<Death, undefined, undefined> {
  for (let nth = 0; ; nth++) yield { line: 1 + ((nth * 7) % 10), afterMs: [0, 1, 3, 8, 20, 45][nth % 6] ?? 0 };
}

test(`F1 F5 G1 G2 G3 G4 ${KILLS} SIGKILLs of the brain lose no acknowledged entry, double no effect and leave no process`, async (t) => {
  const { launcher: vidro } = bundledCommands();
  // One run to its end leaves compiled code behind, which a process that is killed never does.
  assert.equal(await survive(t, vidro, [][Symbol.iterator]()), 0);
  const deaths = allDeaths();
  let kills = 0;
  const lane = async (): Promise<void> => {
    while (kills < KILLS) {
      // Added when they are known: the other lanes count meanwhile.
      const more = await survive(t, vidro, deaths);
      kills += more;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  assert.ok(kills >= KILLS);
  t.diagnostic(`${kills} kills`);
});
