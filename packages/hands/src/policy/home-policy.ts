import { existsSync } from "node:fs";
import { Fault } from "@vidro/core";
import type { Action, FaultReport, JsonObject, Judgement } from "@vidro/core";
import { explainVerdict } from "@vidro/core/policy";
import type { HomePolicy } from "@vidro/core/policy";
import { openPolicy } from "./policy-file.ts";
import type { OpenPolicy } from "./policy-file.ts";
import { readPolicySource, replacePolicyFile } from "./rule-file.ts";

/** Where the policy of a home is, and the hand that it is for. */
interface HomePolicyOptions {
  readonly file: string;
  /** Of the hand by which actions are explained. */
  readonly workspace: string;
  /** The folder of Vidro's own state. */
  readonly state: string;
  /** Freezes an action into a plan and judges it; runs nothing. */
  readonly judge: (action: Action) => Promise<Judgement | FaultReport>;
  /** Lets the open hands read the policy again. */
  readonly reload: () => Promise<void>;
}

/** The policy of this machine for people who look at it, try it and change it. */
export function homePolicy(options: HomePolicyOptions): HomePolicy {
  const { file, workspace, state } = options;
  const open = (draft?: JsonObject, folder = workspace): OpenPolicy =>
    openPolicy({ file, workspace: folder, state, ...(draft === undefined ? {} : { draft }) });
  return {
    async show() {
      const { policy, version, isHost, warning, file: counting } = open();
      const { rules, added = new Set(counting === undefined ? [] : rules.map(({ id }) => id)) } = policy;
      const source = readPolicySource(file);
      return { file, isHost, version, source, rules, added, ...(warning === undefined ? {} : { warning }) };
    },
    async check(draft) {
      const { rules } = open(draft).policy;
      const examples = rules.reduce(
        (sum, { examples: { match, not_match } }) => sum + match.length + not_match.length,
        0,
      );
      return { rules: rules.length, examples };
    },
    async explain(action, draft) {
      const judged = await options.judge(action);
      if ("code" in judged) throw new Fault(judged.code, judged.message);
      const { plan, hash, verdict } = judged;
      const opened = open(draft);
      const { findings } = explainVerdict(plan, opened.policy);
      return { plan, hash, findings, verdict: draft === undefined ? verdict : opened.judge(plan) };
    },
    async judges(draft) {
      const opened = new Map<string, OpenPolicy | undefined>();
      return (folder) => {
        if (!opened.has(folder)) opened.set(folder, existsSync(folder) ? open(draft, folder) : undefined);
        return opened.get(folder);
      };
    },
    async replace(draft, version) {
      const now = open();
      if (now.isHost)
        throw new Fault("CONFLICT", `The policy of this host counts, which only root changes: ${now.file}.`);
      if (now.version !== version)
        throw new Fault("CONFLICT", "The policy was changed meanwhile: read it again, and make your change anew.");
      replacePolicyFile(file, draft, () => void open(draft));
      await options.reload();
    },
  };
}
