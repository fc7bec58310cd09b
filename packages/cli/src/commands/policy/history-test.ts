import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Fault, REVIEW_LIMITS } from "@vidro/core";
import { changedVerdicts } from "@vidro/core/policy";
import type { ChangedVerdict, PastTally } from "@vidro/core/policy";
import { countWords, oneLine, planWords, SHORT_ID_CHARS } from "@vidro/core/text";
import type { OpenPolicy } from "@vidro/hands";
import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { withBrainApi } from "../../brain-api/open-brain-api.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { print, say, writeJson } from "../../program/output.ts";
import { homeFolder } from "../../program/settings.ts";
import { paint } from "../../view/symbols.ts";
import { policyFile } from "./policy-place.ts";

/** Flags of `vidro policy test`. */
interface TestFlags extends BrainFlags {
  readonly history?: boolean;
  readonly limit?: number;
  readonly json?: boolean;
}

const COLOURS = { allow: "green", ask: "yellow", deny: "red" } as const;
const PLAN_CHARS = 80;

/** Judges the actions of past runs by a policy file and prints those that it would decide otherwise; runs nothing. */
export async function testPolicy(file: string | undefined, flags: TestFlags): Promise<number> {
  if (flags.history !== true)
    throw new Fault("BAD_REQUEST", "Say what to test it on: vidro policy test [file] --history");
  if (file !== undefined && !existsSync(file)) throw new Fault("NOT_FOUND", `There is no file ${file}.`);
  const path = file === undefined ? undefined : resolve(file);
  const tally: PastTally = { judged: 0, elsewhere: 0, homeless: 0 };
  let changed = 0;
  return withBrainApi(flags, async ({ runs }) => {
    const policyAt = await policies(path);
    for await (const one of changedVerdicts(runs, {
      policyAt,
      tally,
      limit: flags.limit ?? REVIEW_LIMITS.searchedRuns,
    })) {
      changed += 1;
      if (flags.json === true) writeJson(one);
      else print(...changedLines(one));
    }
    if (flags.json !== true) say(...tallyLines(tally, changed, path));
    return EXIT.ok;
  });
}

/** The policy of a file, or the one in force, for each workspace; undefined for one that is gone. */
async function policies(file: string | undefined): Promise<(workspace: string) => OpenPolicy | undefined> {
  const { openPolicy } = await import("@vidro/hands");
  const only = file === undefined ? {} : { hostFile: false as const };
  const opened = new Map<string, OpenPolicy | undefined>();
  return (workspace) => {
    if (!opened.has(workspace)) {
      const places = { file: file ?? policyFile(), workspace, state: homeFolder(), ...only };
      opened.set(workspace, existsSync(workspace) ? openPolicy(places) : undefined);
    }
    return opened.get(workspace);
  };
}

function changedLines({ run, seq, plan, was, now }: ChangedVerdict): readonly string[] {
  const turn = `${paint(COLOURS[was.decision], was.decision)} → ${paint([COLOURS[now.decision], "bold"], now.decision)}`;
  const where = paint("dim", `run ${run.slice(-SHORT_ID_CHARS)}, entry ${seq}`);
  return [`${turn}  ${oneLine(planWords(plan), PLAN_CHARS)}`, `    ${where}  rule ${was.rule} → ${now.rule}`];
}

function tallyLines(
  { judged, elsewhere, homeless }: PastTally,
  changed: number,
  file: string | undefined,
): readonly string[] {
  return [
    `${countWords(judged, "past action")} judged by ${file ?? "the policy in force"}: ${changed === 0 ? "none" : changed} would be decided otherwise. Nothing was run.`,
    ...(elsewhere > 0
      ? [`${countWords(elsewhere, "action")} of other hosts not judged: their policy is their own.`]
      : []),
    ...(homeless > 0 ? [`${countWords(homeless, "action")} not judged: the folder is gone.`] : []),
  ];
}
