import { findDaemonProcess } from "@vidro/brain/daemon-file";
import { asFault, BACKGROUND_LIMITS, CLIENT_LIMITS, Fault, HTTP_LIMITS } from "@vidro/core";
import { waitUntil } from "@vidro/hands/background";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { EXIT } from "../program/exit-codes.ts";
import { say } from "../program/output.ts";
import { homeFolder } from "../program/settings.ts";

/** Ends the daemon of this home in order, and waits until its process is gone. A home without one is left as it is. */
export async function stopDaemon({ now = false }: { readonly now?: boolean } = {}): Promise<number> {
  const daemon = await findDaemonProcess(homeFolder());
  if (daemon === undefined) {
    say("Vidro is not up, so there is nothing to end.");
    return EXIT.ok;
  }
  const { pid } = daemon;
  const runs = await openRuns();
  const isGone = (): boolean => !daemon.lives();
  signal(pid);
  // The second signal ends it at once: the journal has everything.
  if (now) await waitUntil(isGone, BACKGROUND_LIMITS.lookMs).then((gone) => (gone ? undefined : signal(pid)));
  const waits = `Process ${pid} answers the requests that it has, for ${HTTP_LIMITS.stopMs / 1000} s at most.`;
  const slow = setTimeout(() => say(waits), CLIENT_LIMITS.noticeMs);
  const isOver = await waitUntil(isGone, 2 * HTTP_LIMITS.stopMs).finally(() => clearTimeout(slow));
  if (!isOver) throw new Fault("CONFLICT", `Process ${pid} does not end. End it at once: vidro stop --now`);
  const open = runs === 0 ? "" : ` ${runs === 1 ? "1 open run goes" : `${runs} open runs go`} on at the next start.`;
  say(`Vidro has ended, process ${pid}.${open}`);
  return EXIT.ok;
}

/** Signals the daemon; that its process is the daemon was checked by its start time, not only by its pid. */
function signal(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ESRCH") return;
    throw new Fault("FORBIDDEN", `Process ${pid} cannot be ended by you: ${asFault(cause).message}`, { cause });
  }
}

/** How many runs are open; 0 when the daemon does not say. */
async function openRuns(): Promise<number> {
  try {
    const { agent } = await withBrainApi({}, (api) => api.status());
    return typeof agent["runs"] === "number" ? agent["runs"] : 0;
  } catch {
    return 0;
  }
}
