import { closeSync, openSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { Fault, PROCESS_LIMITS } from "@vidro/core";
import { encodeNdjson, ndjsonDecoder } from "@vidro/core/codec";
import type { BackgroundPlan, ProcessEnd, ProcessRecord } from "./process-record.ts";

/* What a hand and the keeper of a process say to each other: lines of JSON on the keeper's stdin and its socket. */

/** What a keeper is started with. */
export interface KeeperOrder {
  readonly record: Pick<ProcessRecord, "action" | "name" | "run" | "by" | "keep">;
  readonly plan: BackgroundPlan;
  readonly workspace: string;
  readonly state: string;
  readonly reserved: readonly string[];
  readonly secrets?: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly memoryBytes: number;
}

/** The first line of a keeper: the process runs, or why it does not. */
export type KeeperReport = { readonly pid: number } | { readonly failed: string };

/** What a keeper is asked on its socket. */
export type KeeperRequest =
  | { readonly do: "write"; readonly text: string; readonly close: boolean }
  | { readonly do: "stop" };

/** Its answer. */
export type KeeperAnswer = { readonly ok: true; readonly end?: ProcessEnd } | { readonly error: string };

/** Name of the socket in the folder of a process. */
const SOCKET = "keeper";

/** Longest path that every system takes as the address of a socket. */
const ADDRESS_BYTES = 100;

/** Calls back with an address of the socket in a folder that is short enough, however long the path of the folder is. */
export function withSocketAddress<T>(folder: string, use: (address: string) => T): T {
  const path = join(folder, SOCKET);
  if (Buffer.byteLength(path) <= ADDRESS_BYTES) return use(path);
  const descriptor = openSync(folder, "r");
  try {
    return use(`/proc/self/fd/${descriptor}/${SOCKET}`);
  } finally {
    closeSync(descriptor);
  }
}

/** Asks the keeper of a process; rejects with TOOL_FAILED when it does not answer. */
export async function askKeeper(folder: string, request: KeeperRequest): Promise<KeeperAnswer> {
  const socket = connectKeeper(folder);
  return new Promise((resolve, reject) => {
    const decoder = ndjsonDecoder(PROCESS_LIMITS.messageBytes);
    const fail = (why: string): void => {
      socket.destroy();
      reject(keeperFault(why));
    };
    socket.setTimeout(PROCESS_LIMITS.keeperMs, () => fail("did not answer in time"));
    socket.once("error", () => fail("cannot be reached"));
    socket.once("close", () => fail("has ended"));
    socket.on("data", (chunk: Buffer) => {
      for (const item of decoder.push(chunk)) {
        if (item.ok) resolve(item.value as KeeperAnswer);
        socket.destroy();
      }
    });
    socket.write(encodeNdjson(request));
  });
}

function connectKeeper(folder: string): Socket {
  try {
    return withSocketAddress(folder, (address) => connect(address));
  } catch {
    // The folder is gone.
    throw keeperFault("cannot be reached");
  }
}

function keeperFault(why: string): Fault {
  return new Fault("TOOL_FAILED", `The keeper of the process ${why}.`);
}
