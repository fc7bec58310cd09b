import { LOG_EVENTS } from "../../packages/brain/src/observe/log-events.ts";
import { page, table } from "./page.ts";

/** Every kind of line of the daemon's log: its name, level and sentence. */
export function logPage(): string {
  const rows = Object.entries(LOG_EVENTS).map(([name, [level, message]]) => [`\`${name}\``, level, message]);
  return page("Log", "`packages/brain/src/observe/log-events.ts`", [
    "The daemon logs one JSON object a line: `timestamp`, `level`, `event`, `message`, and the fields of that event. `event` is a stable name to search and alert by; `message` is a sentence for people and may change. `run_id`, `session_id` (the thread), `agent_id` (the hand), `action_id`, `trace_id` and `request_id` have the same names on every line that has them. Secrets are redacted, and what was said and done in a run is only in its journal.",
    table(["event", "level", "message"], rows),
  ]);
}
