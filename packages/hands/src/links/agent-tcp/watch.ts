import { Fault } from "@vidro/core";
import { WATCH_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import { defineCommand } from "./command.ts";
import { requireAllowed } from "./policy-check.ts";

/** Starts to watch a path that the hand's policy allows to read [002-33]. */
export const watchCommand = defineCommand({
  act: "WATCH",
  scope: "watch",
  schema: WATCH_SCHEMA,
  async run({ path, time }, { context }) {
    const plan = await requireAllowed(context.hand, "read_folder", { dir_path: path });
    if (plan.kind !== "file") throw new Fault("TOOL_FAILED", `${path} cannot be watched.`);
    const { token, startedAt, expiresAt } = await context.watches.begin(plan.path, time);
    return { ok: true, token, path: plan.path, startedAt, expiresAt };
  },
});
