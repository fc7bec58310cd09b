import { QUIT_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import { defineCommand } from "./command.ts";

/** Closes the connection when all other requests are answered [002-31]. */
export const quitCommand = defineCommand({
  act: "QUIT",
  schema: QUIT_SCHEMA,
  isExclusive: true,
  isLast: true,
  async run(_data, call) {
    await call.waitForOthers();
    return { bye: true };
  },
});
