import { parseArgs } from "node:util";
import { soak } from "./soak.ts";

// npm run soak -- --minutes N --seed S
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: `${Math.floor(Math.random() * 2 ** 31)}` },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0) || !Number.isInteger(seed)) {
  process.stderr.write("soak: --minutes N --seed S\n");
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.stdout.write(`soak: ${minutes} min, seed ${seed}\n`);
const { leaks, counts, mibPerThousandRuns } = await soak({ minutes, seed }, (line) =>
  process.stdout.write(`${line}\n`),
);
const done = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
process.stdout.write(`soak: ${done.join(", ")}\n`);
process.stdout.write(`soak: memory grew by ${mibPerThousandRuns} MiB for each 1,000 runs\n`);
process.stdout.write(leaks.length === 0 ? "soak: nothing leaked\n" : `soak: LEAKED ${leaks.join("; ")}\n`);
process.exitCode = leaks.length === 0 ? 0 : 1;
