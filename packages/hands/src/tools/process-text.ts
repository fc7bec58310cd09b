import { setTimeout as sleep } from "node:timers/promises";
import { PROCESS_LIMITS } from "@vidro/core";
import type { JsonObject, ValueOutcome } from "@vidro/core";
import { planWords } from "@vidro/core/text";
import type { BackgroundProcesses } from "../background/background-processes.ts";
import { outputSpan, readOutputFrom } from "../background/output-log.ts";
import type { OutputPiece } from "../background/output-log.ts";
import { isRunning, readRecord } from "../background/process-record.ts";
import type { ProcessRecord } from "../background/process-record.ts";
import { trimPartialCharacter } from "../exec/output.ts";

/* What tools tell of processes in the background. */

/** The schema of a field that names a process. */
export function processSchema(description: string) {
  return { type: "string", minLength: 1, maxLength: 128, description } as const;
}

/** Where a reading begins, and how long it waits for output. */
interface OutputWait {
  readonly place: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Waits until a process says more than it had said, or ends, or the time is over; gives its record then. */
export async function waitForSign(
  background: BackgroundProcesses,
  record: ProcessRecord,
  { place, waitMs, signal }: OutputWait,
): Promise<ProcessRecord> {
  const folder = background.folderOf(record);
  const until = performance.now() + waitMs;
  const seen = outputSpan(folder).end;
  for (;;) {
    const now = readRecord(folder) ?? record;
    const { end } = outputSpan(folder);
    const hasLines = completeEnd(readOutputFrom(folder, place, PROCESS_LIMITS.readBytes)) > place;
    if (hasLines || end > Math.max(seen, place) || !isRunning(now) || signal.aborted || performance.now() >= until)
      return now;
    await sleep(PROCESS_LIMITS.lookMs);
  }
}

/** What is read of a process, and the words before it. */
interface ProcessReading {
  readonly place: number;
  readonly lead?: string;
}

/**
 * The output of a process from a place on. A last line that is not complete is given, and given again by the next
 * reading: a secret in it is recognised only as a whole.
 */
export function processText(
  background: BackgroundProcesses,
  record: ProcessRecord,
  { place, lead }: ProcessReading,
): ValueOutcome {
  const folder = background.folderOf(record);
  const running = isRunning(record);
  const piece = readOutputFrom(folder, place, PROCESS_LIMITS.readBytes);
  const hasMore = piece.to < outputSpan(folder).end;
  // From the same reading: the process may say more at any moment, and the cursor must not pass what was not given.
  const cursor = running || hasMore ? completeEnd(piece) : piece.to;
  const text = trimPartialCharacter(hasMore ? piece.bytes.subarray(0, cursor - piece.from) : piece.bytes).toString();
  const dropped = piece.from > place ? `[${piece.from - place} bytes of earlier output were dropped]` : "";
  const status = `[${record.name} ${standingWords(record)}; ${hasMore ? "there is more: " : ""}cursor ${cursor}]`;
  const lines = [lead ?? "", dropped, text.replace(/\n$/, ""), status].filter((line) => line !== "");
  return { kind: "value", text: lines.join("\n"), data: { ...processData(record), cursor, output: text } };
}

/** A process as data. */
export function processData(record: ProcessRecord): JsonObject {
  const { action, name, pid, keep, run, plan, startedAt, end } = record;
  return {
    id: action,
    process: name,
    pid,
    running: isRunning(record),
    keep,
    run,
    command: planWords(plan),
    cwd: plan.cwd,
    started_at: new Date(startedAt).toISOString(),
    ends_at: new Date(startedAt + plan.timeoutMs).toISOString(),
    ...(end === undefined
      ? {}
      : { ended_at: new Date(end.at).toISOString(), exit_code: end.exitCode, signal: end.signal, why: end.why }),
  };
}

/** How a process stands, for a person or a model. */
export function standingWords(record: ProcessRecord): string {
  const { end } = record;
  if (isRunning(record)) return "runs";
  if (end === undefined) return "is gone: its hand or its host was stopped, and how it ended is not known";
  const how = end.signal === null ? `exit code ${end.exitCode}` : end.signal;
  const reasons = {
    exit: "",
    timeout: " after its time was over",
    abort: " because it was stopped",
    memory: " because of its memory",
  };
  return `ended with ${how}${reasons[end.why]}`;
}

/** The place behind the last complete line of a reading. */
function completeEnd({ bytes, from }: OutputPiece): number {
  const lastLine = bytes.lastIndexOf(0x0a) + 1;
  // A line that is longer than one reading is given in parts, and a character is never parted.
  const isLong = lastLine === 0 && bytes.length >= PROCESS_LIMITS.readBytes;
  return from + (isLong ? trimPartialCharacter(bytes).length : lastLine);
}
