import type { ServerResponse } from "node:http";
import type { Sink } from "./box.ts";
import { realMethodsOf } from "./response-disguise.ts";
import type { RealResponse } from "./response-disguise.ts";
import { varyWithAccept } from "./negotiate.ts";

/** A sink over a response of node:http; the connection is closed after the last line. */
export function nodeSink(response: ServerResponse, truth: RealResponse = realMethodsOf(response)): Sink {
  return {
    open(headers) {
      const { statusCode } = response;
      // The contract has the server close the connection after the terminal event.
      response.shouldKeepAlive = false;
      for (const name of ["Content-Length", "ETag"]) truth.removeHeader(name);
      for (const [name, value] of Object.entries(headers)) truth.setHeader(name, value);
      truth.setHeader("Vary", varyWithAccept(String(response.getHeader("vary") ?? "")));
      truth.writeHead(200);
      // Keep the route's own status: the terminal event reports it.
      response.statusCode = statusCode;
    },
    write: truth.write,
    end: () => void truth.end(),
    cut: () => void response.destroy(),
    watch({ drained, finished, gone }) {
      response.on("drain", drained).on("finish", finished).on("close", gone);
    },
  };
}
