import { Fault, MODEL } from "@vidro/core";

const NEWLINE = 10;

/**
 * `fetch` for servers that are not trusted: it follows no redirect, because a key must not travel to another host,
 * and it ends a body in which a single line grows too long, because the parsers behind it would keep it all.
 */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "error" });
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(lineBound(MODEL.eventBytes)), { status, statusText, headers });
};

function lineBound(bytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let open = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const newline = chunk.lastIndexOf(NEWLINE);
      open = newline === -1 ? open + chunk.length : chunk.length - newline - 1;
      if (open > bytes) throw new Fault("MODEL_RUBBISH", `The model sent more than ${bytes} bytes in one line.`);
      controller.enqueue(chunk);
    },
  });
}
