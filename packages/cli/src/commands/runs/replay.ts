import type { ModelDecision, ReplayedStep } from "@vidro/brain";
import { actionWords, countWords, oneLine } from "@vidro/core/text";
import type { BrainFlags } from "../../brain-api/brain-address.ts";
import { findRun } from "../../brain-api/find-run.ts";
import { withBrainApi, withHomeBrain } from "../../brain-api/open-brain-api.ts";
import { EXIT } from "../../program/exit-codes.ts";
import { print, say, writeJson } from "../../program/output.ts";
import { paint } from "../../view/symbols.ts";

/** Flags of `vidro runs replay`. */
interface ReplayFlags extends BrainFlags {
  readonly model: string;
  readonly json?: boolean;
}

const LINE_CHARS = 120;

/**
 * Asks another model at each decision of a recorded run, with the prompt that there was, and prints where it decides
 * otherwise. The model is called from this machine; no hand is asked, and nothing is carried out.
 */
export async function replayRunWith(given: string, flags: ReplayFlags): Promise<number> {
  const { replayRun } = await import("@vidro/brain");
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  return withBrainApi(flags, async ({ runs }) => {
    const { id } = await findRun(runs, given);
    return withHomeBrain(async (home) => {
      const model = await home.model(flags.model);
      const steps: ReplayedStep[] = [];
      for await (const step of replayRun(runs.entries(id), model, stop.signal)) {
        steps.push(step);
        if (flags.json === true) writeJson(step);
        else print(...stepLines(step));
      }
      if (stop.signal.aborted) return EXIT.aborted;
      if (flags.json !== true) say(summaryWords(steps, model.name));
      return steps.some(({ other }) => other.kind === "failed") ? EXIT.failed : EXIT.ok;
    });
  });
}

function stepLines({ seq, step, recorded, other, same }: ReplayedStep): readonly string[] {
  const where = paint("dim", `step ${step}, entry ${seq}`);
  if (same) return [`${paint("green", "=")} ${where}  ${decisionWords(recorded)}`];
  return [
    `${paint("yellow", "≠")} ${where}`,
    `    ${paint("dim", "was")}  ${decisionWords(recorded)}`,
    `    ${paint("dim", "now")}  ${decisionWords(other)}`,
  ];
}

function decisionWords(decision: ModelDecision): string {
  switch (decision.kind) {
    case "action":
      return actionWords({ id: "", callId: "", tool: decision.tool, input: decision.input }, LINE_CHARS);
    case "question":
      return `asks: ${oneLine(decision.text, LINE_CHARS)}`;
    case "answer":
      return `answers: ${oneLine(decision.text, LINE_CHARS)}`;
    case "words":
      return `says: ${oneLine(decision.text, LINE_CHARS)}`;
    case "failed":
      return `fails: ${oneLine(decision.fault.message, LINE_CHARS)}`;
  }
}

function summaryWords(steps: readonly ReplayedStep[], model: string): string {
  const same = steps.filter((step) => step.same).length;
  const tokens = steps.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0), 0);
  return `${oneLine(model, LINE_CHARS)} makes ${same} of ${countWords(steps.length, "decision")} as they were made (${countWords(tokens, "token")}). Nothing was carried out.`;
}
