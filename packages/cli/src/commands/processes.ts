import type { HandRecord } from "@vidro/client";
import { Fault, isObject } from "@vidro/core";
import type { FaultReport, Json, JsonObject } from "@vidro/core";
import { directToolTask } from "@vidro/core/run";
import { oneLine } from "@vidro/core/text";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import type { BrainApi } from "../brain-api/brain-api.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { passOutput, print, say, writeJson } from "../program/output.ts";
import { requireFolder } from "../program/require-folder.ts";
import { yesAnswerer } from "../view/questions.ts";
import { paint } from "../view/symbols.ts";
import { Execution } from "./hands/execution.ts";

/** Flags of the commands below `vidro processes`. */
interface ProcessFlags extends BrainFlags {
  readonly on?: string;
  readonly json?: boolean;
}

const NAME_CHARS = 16;
const COMMAND_CHARS = 60;
const STATE_CHARS = 12;
const UP = "ok";
const LOCAL = "local";

/** Lists the processes that hands keep beyond their runs. */
export async function listKeptProcesses(flags: ProcessFlags): Promise<number> {
  return withBrainApi(flags, async (brain) => {
    const told = await askHands(brain, flags, { tool: "started_processes", input: {} });
    const rows = told.flatMap(({ hand, data }) => processesIn(data).map((one) => ({ hand: hand.name, ...one })));
    if (flags.json === true) for (const row of rows) writeJson(row);
    else if (rows.length === 0) say("No process is kept in the background.");
    else print(paint("dim", headingOf()), ...rows.map(rowOf));
    return EXIT.ok;
  });
}

/** Shows a kept process and the end of its output. */
export async function showProcess(name: string, flags: ProcessFlags): Promise<number> {
  return onOneHand(flags, { tool: "read_output", input: { process: name } }, ({ data, text }) => {
    if (flags.json === true) writeJson(isObject(data) ? data : {});
    else passOutput("stdout", `${text}\n`);
  });
}

/** Ends a kept process; the command is the person's word for it. */
export async function stopProcess(name: string, flags: ProcessFlags): Promise<number> {
  return onOneHand(flags, { tool: "stop_process", input: { process: name } }, ({ data, text }) => {
    if (flags.json === true) writeJson(isObject(data) ? data : {});
    else say(text);
  });
}

interface ToolCall {
  readonly tool: string;
  readonly input: JsonObject;
}

interface ToolAnswer {
  readonly hand: HandRecord;
  readonly text: string;
  readonly data: Json | undefined;
  readonly fault?: FaultReport;
}

/** Calls a tool where the process is; the fault of the only hand, or NOT_FOUND, when it is nowhere. */
async function onOneHand(flags: ProcessFlags, call: ToolCall, tell: (answer: ToolAnswer) => void): Promise<number> {
  return withBrainApi(flags, async (brain) => {
    const answers = await askHands(brain, flags, call);
    const found = answers.filter(({ fault }) => fault === undefined);
    for (const answer of found) tell(answer);
    if (found.length > 0) return EXIT.ok;
    const fault = answers.flatMap((answer) => answer.fault ?? []).find(({ code }) => code !== "NOT_FOUND");
    if (fault !== undefined) throw new Fault(fault.code, fault.message);
    const name = JSON.stringify(call.input["process"] ?? "");
    throw new Fault("NOT_FOUND", `No hand has a process ${name} in the background: vidro processes list`);
  });
}

async function askHands(
  brain: BrainApi,
  flags: ProcessFlags,
  { tool, input }: ToolCall,
): Promise<readonly ToolAnswer[]> {
  const { runs, hands: register } = brain;
  const connected = flags.on === undefined ? (await register.list({})).filter(({ state }) => state === UP) : [];
  // A brain inside this command lists no hands; it has that of this machine.
  const hands = connected.length > 0 ? connected : await register.list({ select: flags.on ?? LOCAL });
  return Promise.all(
    hands.map(async (hand) => {
      const execution = new Execution({
        runs,
        hand,
        task: directToolTask(tool, input),
        workspace: requireFolder("."),
        hear: () => undefined,
        answer: async (question, _entries, signal) => yesAnswerer.answer(question, signal),
      });
      const { value, fault } = await execution.carryOut();
      return { hand, text: value?.text ?? "", data: value?.data, ...(fault === undefined ? {} : { fault }) };
    }),
  );
}

function processesIn(data: Json | undefined): readonly JsonObject[] {
  const listed = isObject(data) ? data["processes"] : undefined;
  return Array.isArray(listed) ? listed.filter(isObject) : [];
}

function headingOf(): string {
  return ["NAME".padEnd(NAME_CHARS), "HAND".padEnd(NAME_CHARS), "STATE".padEnd(STATE_CHARS), "COMMAND"].join("  ");
}

function rowOf(row: JsonObject): string {
  const word = (name: string, chars: number): string => {
    const value = row[name];
    return oneLine(typeof value === "string" ? value : "", chars).padEnd(chars);
  };
  const state = row["running"] === true ? "runs" : "ended";
  return [
    word("process", NAME_CHARS),
    word("hand", NAME_CHARS),
    state.padEnd(STATE_CHARS),
    word("command", COMMAND_CHARS).trimEnd(),
  ].join("  ");
}
