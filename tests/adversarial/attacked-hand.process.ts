import { join } from "node:path";
import { createInterface } from "node:readline";
import type { JsonObject } from "@vidro/core";
import { localHand, openReloadablePolicy } from "@vidro/hands";
import { approved, perform } from "./attack.fixture.ts";

/*
 * A hand in a process of its own: arguments are the workspace and the folder of Vidro's state. Each line of stdin is a
 * request, answered by one line of stdout in the same order unless the request says otherwise.
 */

/** What the process is asked to do. */
export type AttackRequest =
  | { readonly tool: string; readonly input: JsonObject; readonly isApproved: boolean }
  /** Reads the policy file again, as SIGHUP does. */
  | { readonly reload: true };

const [, , workspace = "", state = ""] = process.argv;
const policy = openReloadablePolicy({ file: join(state, "policy.json"), hostFile: false, workspace, state });
const hand = await localHand({ id: "local", workspace, state: join(state, "hand"), reserved: state, policy });

async function answer(request: AttackRequest): Promise<unknown> {
  if ("reload" in request) {
    policy.reload();
    return { version: policy.version };
  }
  const { tool, input, isApproved } = request;
  return isApproved ? approved(hand, tool, input) : perform(hand, tool, input);
}

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, request } = JSON.parse(line) as { id: number; request: AttackRequest };
  void answer(request).then((value) => process.stdout.write(`${JSON.stringify({ id, value })}\n`));
}
await hand.close();
