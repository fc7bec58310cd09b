import { parseArgs } from "node:util";
import { chaos } from "./chaos.ts";
import type { ChaosReport } from "./chaos.ts";
import { FAULT_KINDS } from "./plan.ts";
import type { FaultKind } from "./plan.ts";
import { failureWords, summaryWords } from "./report.ts";

// npm run chaos -- --seconds N --seed S --faults kill,stop,store,disk,abort
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "30" },
    seed: { type: "string", default: `${Math.floor(Math.random() * 2 ** 31)}` },
    faults: { type: "string", default: FAULT_KINDS.join(",") },
  },
});
const faults = values.faults.split(",").filter((word) => word !== "");
const strange = faults.find((word) => !(FAULT_KINDS as readonly string[]).includes(word));
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (strange !== undefined || !(seconds > 0) || !Number.isInteger(seed)) {
  process.stderr.write(`chaos: --seconds N --seed S --faults ${FAULT_KINDS.join(",")}\n`);
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const options = { seconds, seed, faults: faults as FaultKind[] };
process.stdout.write(`chaos: ${seconds} s, seed ${seed}, faults ${faults.join(",")}\n`);
const report: ChaosReport = await chaos(options, (line) => process.stdout.write(`${line}\n`));
process.stdout.write(report.violations.length === 0 ? "" : failureWords(options, report));
process.stdout.write(summaryWords(options, report));
process.exitCode = report.violations.length === 0 ? 0 : 1;
