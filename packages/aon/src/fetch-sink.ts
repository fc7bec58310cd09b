import { deferred } from "@vidro/core";
import type { Sink, SinkListener } from "./box.ts";

/** A sink that writes to the body of a fetch-style Response. */
export interface FetchSink extends Sink {
  /** Resolves with the response as soon as the box opens. */
  readonly response: Promise<Response>;
}

/** Bytes that the stream buffers before the box has to wait. */
const HELD_BYTES = 64 * 1024;

/** A sink for runtimes that speak Request and Response; `onCancel` is called when the reader goes away. */
export function fetchSink(onCancel: () => void): FetchSink {
  const opened = deferred<Response>();
  const utf8 = new TextEncoder();
  let control: ReadableStreamDefaultController<Uint8Array> | undefined;
  let listener: SinkListener | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        control = given;
      },
      pull: () => listener?.drained(),
      cancel() {
        listener?.gone();
        onCancel();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: HELD_BYTES }),
  );
  return {
    response: opened.promise,
    open: (headers) => opened.resolve(new Response(body, { headers: { ...headers, Vary: "Accept" } })),
    write(text) {
      control?.enqueue(utf8.encode(text));
      return (control?.desiredSize ?? 0) > 0;
    },
    end() {
      control?.close();
      listener?.finished();
    },
    cut: () => control?.error(new Error("The reader took nothing for too long.")),
    watch(given) {
      listener = given;
    },
  };
}
