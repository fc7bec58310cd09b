import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Fault, FAULTS } from "@vidro/core";
import { explainVerdict } from "@vidro/core/policy";
import { countWords, planWords } from "@vidro/core/text";
import type { Action, Judgement } from "@vidro/core";
import type { RuleFinding } from "@vidro/core/policy";
import { EXIT } from "../program/exit-codes.ts";
import { requireFolder } from "../program/require-folder.ts";
import { paint } from "../view/symbols.ts";
import { faultLine, print, sayFault, writeJson } from "../program/output.ts";
import { withHomeBrain } from "../brain-api/open-brain-api.ts";
import { openPolicyAt, policyFile } from "./policy/policy-place.ts";

const COLOURS = { allow: "green", ask: "yellow", deny: "red" } as const;

/** Parses a policy and runs its examples; without a file, the policy in force. */
export async function check(file: string | undefined, flags: { readonly json?: boolean }): Promise<number> {
  // A command line is judged by another command.
  if (file !== undefined && !existsSync(file))
    throw new Fault("NOT_FOUND", `There is no file ${file}. To see what may be run: vidro policy explain -- ${file}`);
  const path = file === undefined ? policyFile() : resolve(file);
  const { policy, version, file: counting } = await openPolicyAt(path, file === undefined);
  const examples = policy.rules.reduce(
    (sum, { examples: { match, not_match } }) => sum + match.length + not_match.length,
    0,
  );
  const name = counting ?? "the shipped policy";
  if (flags.json === true) writeJson({ ok: true, policy: name, version, rules: policy.rules.length, examples });
  else {
    const held = `${countWords(policy.rules.length, "rule")}, ${countWords(examples, "example")} tried`;
    print(`${paint("green", "ok")} ${name}: ${held}, version ${version}`);
  }
  return EXIT.ok;
}

/** Explains whether a command would be allowed, by which rule and why, and what the other rules say; runs nothing. */
export async function explainCommand(
  words: readonly string[],
  flags: { readonly json?: boolean; readonly shell?: boolean },
): Promise<number> {
  const [command = "", ...args] = words;
  const action: Action =
    flags.shell === true
      ? { id: "act_explain", tool: "shell", input: { command: words.join(" ") }, callId: "" }
      : { id: "act_explain", tool: "command", input: { command, args }, callId: "" };
  return withHomeBrain(async (brain) => {
    const judged = await (await brain.hand(requireFolder("."))).judge(action);
    if ("code" in judged) {
      if (flags.json === true) writeJson(faultLine(judged));
      sayFault(judged);
      return FAULTS[judged.code].exit;
    }
    const { findings } = explainVerdict(judged.plan, (await openPolicyAt(policyFile(), true)).policy);
    if (flags.json === true)
      writeJson({ ...judged.verdict, plan: judged.plan, hash: judged.hash, policy: judged.policy, findings });
    else print(...explanation(judged, findings));
    return EXIT.ok;
  });
}

function explanation({ plan, verdict }: Judgement, findings: readonly RuleFinding[]): readonly string[] {
  const { decision, rule, class: kind, reason } = verdict;
  return [
    `${paint([COLOURS[decision], "bold"], decision)} ${planWords(plan)}`,
    ...(plan.kind === "process" ? [`  program  ${plan.program}`] : []),
    `  rule     ${rule} (${kind})`,
    `  why      ${reason}`,
    ...findings.map(({ rule: other, decision: said, matched, why }) =>
      paint("dim", `  ${matched ? "matches" : "does not match"} ${other} (${said}): ${why}`),
    ),
  ];
}
