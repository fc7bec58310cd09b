import type { IncomingMessage, ServerResponse } from "node:http";

const PROCESSING = "processing";

/**
 * Sends `102 Processing` to a client that waits for a black box, if it asked with `Prefer: processing` and its HTTP
 * version allows it. Some clients take a 102 for the answer, so it is never sent unasked.
 */
export function keepProcessing(request: IncomingMessage, response: ServerResponse): () => void {
  if (request.httpVersion === "1.0" || !prefers(request, PROCESSING)) return () => undefined;
  return () => {
    if (response.headersSent) return;
    response.setHeader("preference-applied", PROCESSING);
    response.writeProcessing();
  };
}

/** Whether a request has a preference, as RFC 7240 writes them. */
function prefers({ headers }: IncomingMessage, preference: string): boolean {
  const all = headers["prefer"]?.toString().split(",") ?? [];
  return all.some((each) => each.split(";")[0]?.trim().toLowerCase() === preference);
}
