// @ts-nocheck
import { credentials, makeGenericClientConstructor, Server, ServerCredentials } from "@grpc/grpc-js";

/* One unary method that echoes JSON, with no schema language between. */

const encode = (/** @type {unknown} */ value) => Buffer.from(JSON.stringify(value));
const decode = (/** @type {Buffer} */ bytes) => JSON.parse(bytes.toString("utf8"));
const SERVICE = {
  ask: {
    path: "/Echo/ask",
    requestStream: false,
    responseStream: false,
    requestSerialize: encode,
    requestDeserialize: decode,
    responseSerialize: encode,
    responseDeserialize: decode,
  },
};
const Echo = makeGenericClientConstructor(SERVICE, "Echo");

/**
 * Serves on a free port of this machine.
 * @returns {Promise<string>}
 */
export function serve() {
  const server = new Server();
  server.addService(SERVICE, {
    ask: (/** @type {{ request: unknown }} */ call, /** @type {(error: null, value: unknown) => void} */ answer) =>
      answer(null, call.request),
  });
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(String(port)) : reject(error),
    );
  });
}

/**
 * A client with a connection of its own.
 * @param {number} port
 * @returns {{ ask(value: unknown): Promise<unknown>, close(): void }}
 */
export function connected(port) {
  const own = { "grpc.use_local_subchannel_pool": 1 };
  const client = new Echo(`127.0.0.1:${port}`, credentials.createInsecure(), own);
  return {
    ask: (value) =>
      new Promise((resolve, reject) => {
        // @ts-expect-error The method is there because the service names it.
        client.ask(value, (error, answer) => (error === null ? resolve(answer) : reject(error)));
      }),
    close: () => client.close(),
  };
}
