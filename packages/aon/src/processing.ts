import type { IncomingMessage, ServerResponse } from "node:http";

const PROCESSING = "processing";

/**
 * Tells a client that waits for a black box that its work goes on: `102 Processing`, for who asks by
 * `Prefer: processing` and speaks an HTTP that knows it, before the answer only. Some clients take any 102 for the
 * answer, so that nobody gets one unasked.
 */
export function processing(request: IncomingMessage, response: ServerResponse): () => void {
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
