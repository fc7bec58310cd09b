import { brainAddress } from "./address.ts";
import type { Meant } from "./address.ts";
import { embedded } from "./embedded.ts";
import type { Waist } from "./brain-api.ts";
import { withBrain } from "./with-brain.ts";

/** Does some work with the brain that is meant: a named one, the running daemon, or one in this process. */
export async function withWaist<Result>(meant: Meant, work: (waist: Waist) => Promise<Result>): Promise<Result> {
  const address = await brainAddress(meant);
  if (address === undefined) return withBrain((brain) => work(embedded(brain)));
  const { remote } = await import("./remote.ts");
  return work(remote(address));
}
