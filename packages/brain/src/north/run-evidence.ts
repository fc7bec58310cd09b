import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { asFault, STREAM_LIMITS } from "@vidro/core";
import type { CheckRunSeals, Journal, JsonObject } from "@vidro/core";
import type { Reply, RouteCall, Surface } from "../http/route.ts";
import type { Runs } from "../run/runs.ts";
import type { ReadWholeOutput } from "../run/whole-output.ts";
import { visibleOwner } from "./approval-rights.ts";
import { plainFault } from "./ops.ts";

/* What stands behind a journal: the whole outputs that hands keep, and the hashes and seals that show that it is unchanged. */

/** Dependencies of this surface. */
export interface EvidenceDependencies {
  readonly runs: Pick<Runs, "find">;
  readonly wholeOutput: ReadWholeOutput;
  readonly verify: Journal["verify"];
  /** Absent where the store has no seals. */
  readonly checkSeals?: CheckRunSeals;
}

/** Whole outputs, and whether a journal is as it was written. */
export function evidenceSurface(deps: EvidenceDependencies): Surface {
  return {
    name: "evidence",
    faultBody: plainFault,
    routes: [
      {
        method: "GET",
        path: "/v1/runs/{run}/actions/{action}/output",
        scope: "runs",
        summary: "The whole output of a process, of which the journal has the beginning and the end; from its hand",
        answer: {},
        produces: ["text/plain"],
        handle: (call) => output(deps, call),
      },
      {
        method: "GET",
        path: "/v1/runs/{run}/verification",
        scope: "runs",
        summary: "Whether the hash chain of a journal is whole and its entries are those that were sealed",
        answer: VERIFICATION,
        handle: (call) => verification(deps, call),
      },
    ],
  };
}

async function output(
  { runs, wholeOutput }: EvidenceDependencies,
  { params, caller, signal }: RouteCall,
): Promise<Reply> {
  const { id } = await runs.find(params["run"] ?? "", visibleOwner(caller));
  const { bytes, text } = await wholeOutput(id, params["action"] ?? "");
  return {
    async stream(response) {
      response.writeHead(200, {
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": `attachment; filename="${(params["action"] ?? "").replaceAll(/[^\w-]/g, "_")}.txt"`,
        "x-output-bytes": String(bytes),
      });
      // Who does not read is cut off, and so is a text whose hand has left: it is never shorter without a sign.
      response.setTimeout(STREAM_LIMITS.drainMs, () => response.destroy());
      await pour(text, response, signal).catch(() => response.destroy());
    },
  };
}

async function pour(text: AsyncIterable<string>, response: ServerResponse, signal: AbortSignal): Promise<void> {
  for await (const piece of text) {
    signal.throwIfAborted();
    if (!response.write(piece)) await once(response, "drain", { signal });
  }
  response.end();
}

async function verification({ runs, verify, checkSeals }: EvidenceDependencies, call: RouteCall): Promise<Reply> {
  const { id, damaged } = await runs.find(call.params["run"] ?? "", visibleOwner(call.caller));
  const { entries, brokenAt, reason } = await verify(id).catch((thrown: unknown) => ({
    entries: 0,
    brokenAt: 1,
    reason: damaged ?? asFault(thrown).message,
  }));
  const findings: string[] = [];
  const sealed = checkSeals?.(id, (finding) => findings.push(finding));
  const chain = brokenAt === undefined ? {} : { broken_at: brokenAt, reason: reason ?? "the chain is broken" };
  const seals =
    sealed === undefined
      ? {}
      : { seals: sealed.seals, sealed_up_to: sealed.upTo, sealed_at: sealed.at ?? null, key_sha256: sealed.key };
  return { json: { ok: brokenAt === undefined && findings.length === 0, entries, ...chain, findings, ...seals } };
}

const COUNT = { type: "integer", minimum: 0 };
const VERIFICATION: JsonObject = {
  type: "object",
  required: ["ok", "entries", "findings"],
  properties: {
    ok: { type: "boolean" },
    entries: { ...COUNT, description: "Entries up to which the chain is whole." },
    broken_at: COUNT,
    reason: { type: "string" },
    findings: { type: "array", items: { type: "string" }, description: "What is not as it was sealed." },
    seals: { ...COUNT, description: "Seals that have this run; absent where the store has no seals." },
    sealed_up_to: { ...COUNT, description: "The last entry that is sealed; later ones have their hashes alone." },
    sealed_at: { type: ["integer", "null"], description: "When it was sealed, in milliseconds since the epoch." },
    key_sha256: { type: "string" },
  },
};
