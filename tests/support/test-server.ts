import type { Records } from "@vidro/core";
import { serveHttp } from "../../packages/brain/src/http/server.ts";
import type { Surface } from "../../packages/brain/src/http/route.ts";
import type { Tokens } from "../../packages/brain/src/auth/tokens.ts";

/** What is served, and what else goes down with it. */
export interface TestServerParts {
  readonly surfaces: readonly Surface[];
  readonly tokens: Tokens;
  readonly records: Records;
  readonly production: boolean;
  /** In the order in which they are closed, after the server. */
  readonly behind: readonly { close(): Promise<void> }[];
}

/** Surfaces on a free port of this machine, until they are closed or the test is over. */
export async function serveSurfaces(
  t: { after(done: () => Promise<void>): void },
  { behind, ...what }: TestServerParts,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const quiet = { log: () => undefined, bounds: { waitingMs: 50, drainMs: 100 } };
  const server = await serveHttp({ ...what, ...quiet, host: "127.0.0.1", port: 0 });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closed ??= (async () => {
      await server.close();
      what.tokens.close();
      for (const one of behind) await one.close();
    })());
  t.after(close);
  return { url: server.url, close };
}
