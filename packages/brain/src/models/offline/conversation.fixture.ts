import { execFile } from "node:child_process";
import { isObject, outcomeText } from "@vidro/core";
import type { JsonObject, Model, ModelEvent, ModelReply, Output, ToolSpec, Turn } from "@vidro/core";
import { offlineModel } from "../offline.ts";

/** What came of an action, as a turn tells it. */
export interface Told {
  readonly text: string;
  readonly failed: boolean;
}

/** Carries out an action for a test. */
export type TestHand = (tool: string, input: JsonObject) => Promise<Told>;

/** A task from its first call to its answer. */
export interface Conversation {
  readonly answer: string;
  readonly plan: readonly string[];
  readonly calls: readonly { readonly tool: string; readonly input: JsonObject; readonly told: Told }[];
  readonly turns: readonly Turn[];
}

/** Tool specs of these names; the built-in model looks at nothing else of them. */
export function toolsNamed(...names: readonly string[]): readonly ToolSpec[] {
  return names.map((name) => ({ name, description: name, parameters: { type: "object" }, idempotent: true }));
}

/** Every event of one call. */
export async function eventsOf(
  model: Model,
  turns: readonly Turn[],
  tools: readonly ToolSpec[],
  signal?: AbortSignal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const request = { system: "", turns, tools };
  for await (const event of model.call(request, signal ?? new AbortController().signal)) events.push(event);
  return events;
}

/** The reply that a call ends with. */
export async function replyTo(turns: readonly Turn[], tools: readonly ToolSpec[]): Promise<ModelReply> {
  const last = (await eventsOf(offlineModel(), turns, tools)).at(-1);
  if (last?.type !== "replied") throw new Error(`no reply: ${JSON.stringify(last)}`);
  return last.reply;
}

/** Talks with the model until it answers, doing what it asks through `hand`. */
export async function converse(
  task: string,
  hand: TestHand,
  more: { readonly tools?: readonly ToolSpec[]; readonly history?: readonly Turn[] } = {},
): Promise<Conversation> {
  const turns: Turn[] = [...(more.history ?? []), { role: "user", text: task }];
  const calls: Conversation["calls"][number][] = [];
  let plan: readonly string[] = [];
  for (;;) {
    const reply = await replyTo(turns, more.tools ?? toolsNamed("command", "shell"));
    const [call] = reply.calls;
    if (call === undefined)
      return { answer: reply.text, plan, calls, turns: [...turns, { role: "assistant", text: reply.text }] };
    if (typeof call.input === "string") throw new Error("the input is no object");
    if (reply.text !== "") plan = stepsIn(reply.text);
    const told = await hand(call.tool, call.input);
    calls.push({ tool: call.tool, input: call.input, told });
    turns.push(
      { role: "assistant", text: "", action: { id: call.id, tool: call.tool, input: call.input, callId: call.id } },
      { role: "tool", callId: call.id, tool: call.tool, ...told },
    );
  }
}

/** A hand that really runs programs and shell lines, in a folder, and gives their outcome as core words it. */
export function processHand(cwd: string): TestHand {
  return (tool, input) => {
    const line =
      tool === "shell"
        ? ["/bin/sh", "-c", input["command"]]
        : [input["command"], ...(Array.isArray(input["args"]) ? input["args"] : [])];
    const [program = "", ...args] = line.map((word) => (typeof word === "string" ? word : ""));
    return new Promise((resolve) => {
      execFile(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
        if (error !== null && typeof error.code === "string") {
          resolve({ text: `TOOL_FAILED: ${program} was not found.`, failed: true });
          return;
        }
        const exitCode = typeof error?.code === "number" ? error.code : 0;
        const outcome = {
          kind: "process",
          exitCode,
          signal: null,
          timedOut: false,
          durationMs: 1,
          stdout: output(stdout),
          stderr: output(stderr),
        } as const;
        resolve({ text: outcomeText(outcome), failed: false });
      });
    });
  };
}

function output(text: string): Output {
  return { text, bytes: Buffer.byteLength(text), truncated: false, sha256: "" };
}

function stepsIn(text: string): readonly string[] {
  const plan: unknown = JSON.parse(text);
  const steps = isObject(plan) && plan["type"] === "plan" ? plan["steps"] : undefined;
  if (!Array.isArray(steps)) throw new Error(`no plan: ${text}`);
  return steps.map(String);
}
