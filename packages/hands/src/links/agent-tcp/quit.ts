import { QUIT_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import { command } from "./command.ts";

/** Ends the connection when everything that was asked for is answered [002-31]. */
export const quit = command({
  act: "QUIT",
  schema: QUIT_SCHEMA,
  holds: true,
  last: true,
  async run(_data, call) {
    await call.quiet();
    return { bye: true };
  },
});
