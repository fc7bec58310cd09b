import { deferred } from "@vidro/core";
import { request as requestHttp } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { request as requestHttps } from "node:https";
import { CHECK_LIMITS } from "./limits.ts";

/** One request of a check. */
export interface Probe {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The answer to a probe. */
export interface ProbeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Whether the answer is complete. */
  readonly isWhole: boolean;
}

/** Sends exactly these headers; fetch is not used because it always adds Accept. */
export function sendProbe({ url, method, headers, body }: Probe): Promise<ProbeAnswer> {
  const { promise, resolve, reject } = deferred<ProbeAnswer>();
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const signal = AbortSignal.timeout(CHECK_LIMITS.probeMs);
  const content =
    body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
  const outgoing = send(url, { method, headers: { ...content, ...headers }, signal, agent: false }, (incoming) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > CHECK_LIMITS.bodyBytes) incoming.destroy();
      else chunks.push(chunk);
    });
    incoming.on("error", () => undefined);
    incoming.on("close", () => {
      const { statusCode: status = 0, headers: got, complete: isWhole } = incoming;
      resolve({ status, headers: got, body: Buffer.concat(chunks).toString(), isWhole });
    });
  });
  outgoing.on("error", reject);
  outgoing.end(body);
  return promise;
}
