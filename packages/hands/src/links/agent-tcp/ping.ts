import { PING_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import { defineCommand } from "./command.ts";

/** Answers that the hand is up [002-18]. */
export const pingCommand = defineCommand({
  act: "PING",
  schema: PING_SCHEMA,
  run: () => ({ pong: true, ts: Date.now() }),
});
