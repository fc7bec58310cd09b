import { once } from "node:events";
import { chmodSync, lstatSync, mkdirSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { dirname } from "node:path";
import { asFault, Fault, isObject, listenFault, WORKER_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { encodeNdjson, ndjsonDecoder } from "@vidro/core/codec";
import type { NdjsonItem } from "@vidro/core/codec";
import { readWorkerRequest } from "@vidro/core/wire/worker";
import type { WorkerRequest } from "@vidro/core/wire/worker";
import { openEngine } from "./engine/engine.ts";
import type { Engine, EngineOptions } from "./engine/engine.ts";
import { refusal, Worker } from "./worker.ts";
import type { WorkerClient } from "./worker.ts";

/** A worker that listens. */
export interface ServedWorker {
  readonly socket: string;
  /** Facts about its model. */
  readonly info: JsonObject;
  /** Ends every generation and connection, removes the socket and frees the model. */
  close(): Promise<void>;
}

/** Listens on a socket that only this user can open, and loads the model; while it loads, the status says so. */
export async function serveWorker(path: string, options: EngineOptions): Promise<ServedWorker> {
  const worker = new Worker();
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    if (open.size >= WORKER_LIMITS.connections) return void socket.destroy();
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    serveConnection(worker, socket);
  });
  await listen(server, path);
  const stop = async (): Promise<void> => {
    worker.close();
    server.close();
    for (const socket of open) socket.destroy();
  };
  let engine: Engine;
  try {
    engine = await openEngine(options);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  worker.begin(engine);
  const close = async (): Promise<void> => {
    await stop();
    // A token that is being evaluated is waited for; the process may end without the rest.
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = setTimeout(resolve, WORKER_LIMITS.closeMs);
    await Promise.race([engine.close(), promise]);
    clearTimeout(late);
  };
  return { socket: path, info: engine.info, close };
}

/** Reads requests from a connection: in order, but for `abort` and `status`, which are answered at once. */
function serveConnection(worker: Worker, socket: Socket): void {
  const gone = new AbortController();
  const decoder = ndjsonDecoder(WORKER_LIMITS.lineBytes);
  const pending: WorkerRequest[] = [];
  let isBusy = false;
  const client: WorkerClient = {
    signal: gone.signal,
    send(line) {
      if (socket.writable) socket.write(encodeNdjson(line));
      if (socket.writableLength > WORKER_LIMITS.unsentBytes) socket.destroy();
    },
  };
  const work = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    for (let next = pending.shift(); next !== undefined && !gone.signal.aborted; next = pending.shift()) {
      if (pending.length < WORKER_LIMITS.pendingRequests) socket.resume();
      await worker.perform(next, client);
    }
    isBusy = false;
  };
  const take = (item: NdjsonItem): void => {
    const request = readRequest(item, client);
    if (request === undefined) return;
    if (request.type === "abort" || request.type === "status") return void worker.perform(request, client);
    pending.push(request);
    if (pending.length >= WORKER_LIMITS.pendingRequests) socket.pause();
    void work();
  };
  socket.on("data", (chunk) => decoder.push(chunk as Uint8Array).forEach(take));
  socket.on("error", () => undefined).on("close", () => gone.abort());
}

/** The request of a line; a line that is none is answered, and the connection stays usable [000-22]. */
function readRequest(item: NdjsonItem, client: WorkerClient): WorkerRequest | undefined {
  try {
    if (!item.ok) throw new Fault(item.fault.code, item.fault.message);
    return readWorkerRequest(item.value);
  } catch (thrown) {
    const id = item.ok && isObject(item.value) ? item.value["id"] : undefined;
    client.send({ ...refusal(asFault(thrown).report()), ...(id === undefined ? {} : { id }) });
    return undefined;
  }
}

async function listen(server: Server, path: string): Promise<void> {
  closeFolder(dirname(path));
  await removeStale(path);
  server.listen(path);
  try {
    await once(server, "listening");
  } catch (thrown) {
    throw listenFault(path, thrown as Error);
  }
  chmodSync(path, 0o600);
}

/** Makes the folder of the socket, or checks that other users cannot look into it. */
function closeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const why = `The folder ${folder} cannot be made: name another by --socket or FAZAI_GEMMA_SOCK.`;
    throw new Fault("BAD_REQUEST", why, { cause });
  }
  const { mode, uid } = statSync(folder);
  const isClosed = (mode & 0o077) === 0 && uid === (process.getuid?.() ?? uid);
  if (isClosed || process.platform === "win32") return;
  const how = "name a socket in a folder that is closed to them by --socket; a folder that is missing is made so.";
  throw new Fault("BAD_REQUEST", `Other users can look into ${folder}, where the socket would be: ${how}`);
}

/** Removes a socket that no process listens on; PORT_TAKEN when one does. */
async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Fault("CONFLICT", `${path} is there and is no socket.`);
  const probe = connect({ path });
  const isTaken = await once(probe, "connect").then(
    () => true,
    () => false,
  );
  probe.destroy();
  if (isTaken) throw new Fault("PORT_TAKEN", `Another worker listens on ${path}.`);
  rmSync(path, { force: true });
}
