import { connect } from "node:net";
import type { Socket } from "node:net";
import { Fault, WORKER_LIMITS } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { encodeNdjson } from "@vidro/core/codec";
import { workerFaultCode } from "@vidro/core/wire/worker";
import { workerLineDecoder } from "@vidro/core/wire/worker-lines";
import type { WorkerLine } from "@vidro/core/wire/worker-lines";

/** A connection to a worker: requests go out, lines come in. */
export class WorkerConnection {
  readonly #socket: Socket;
  readonly #lines: AsyncGenerator<WorkerLine>;
  readonly #patience: AbortSignal;

  private constructor(socket: Socket, patience: AbortSignal) {
    this.#socket = socket;
    this.#patience = patience;
    this.#lines = readLines(socket);
    patience.addEventListener("abort", this.#cut, { once: true });
    if (patience.aborted) this.#cut();
  }

  /** Connects within the deadline; the connection is cut when the signal aborts. */
  static async open(path: string, signal: AbortSignal): Promise<WorkerConnection> {
    const socket = connect({ path });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = setTimeout(
      () => reject(new Fault("MODEL_TIMEOUT", `${path} took no connection in ${WORKER_LIMITS.connectMs} ms.`)),
      WORKER_LIMITS.connectMs,
    );
    const stop = (): void => reject(new Fault("MODEL_CUT", "The call was aborted."));
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    socket.once("connect", resolve).once("error", reject);
    try {
      await promise;
      return new WorkerConnection(socket, signal);
    } catch (thrown) {
      socket.on("error", () => undefined).destroy();
      throw thrown instanceof Fault ? thrown : unreachable(path, thrown);
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", stop);
    }
  }

  /** Sends one request. */
  send(request: JsonObject): void {
    const line = encodeNdjson(request);
    if (Buffer.byteLength(line) > WORKER_LIMITS.lineBytes)
      throw new Fault("MODEL_REFUSED", `The conversation does not fit a line of ${WORKER_LIMITS.lineBytes} bytes.`);
    this.#socket.write(line);
  }

  /** The next line; MODEL_CUT when the worker ends the connection. */
  async next(): Promise<WorkerLine> {
    const { done, value } = await this.#lines.next();
    if (done !== true) return value;
    throw new Fault("MODEL_CUT", "The worker ended the connection before its answer was finished.");
  }

  /** Sends a request and gives the fields of its reply; throws the worker's refusal. */
  async ask(request: JsonObject & { readonly type: string }): Promise<JsonObject> {
    this.send(request);
    const late = setTimeout(() => {
      const words = `The worker did not answer ${request.type} in ${WORKER_LIMITS.answerMs} ms.`;
      this.#socket.destroy(new Fault("MODEL_TIMEOUT", words));
    }, WORKER_LIMITS.answerMs);
    try {
      const line = await this.next();
      if (line.type === "reply") return line.fields;
      if (line.type === "error") throw refusalOf(line);
      throw new Fault("MODEL_RUBBISH", `The worker answered ${request.type} without ok.`);
    } finally {
      clearTimeout(late);
    }
  }

  /** Ends the connection at once. */
  close(): void {
    this.#patience.removeEventListener("abort", this.#cut);
    this.#socket.destroy();
  }

  readonly #cut = (): void => {
    this.#socket.destroy(new Fault("MODEL_CUT", "The call was aborted."));
  };
}

/** The fault of an error line. */
export function refusalOf({ message, code }: Extract<WorkerLine, { type: "error" }>): Fault {
  return new Fault(workerFaultCode(code) ?? "MODEL_UNAVAILABLE", `The worker answered with an error: ${message}`);
}

async function* readLines(socket: Socket): AsyncGenerator<WorkerLine> {
  const decoder = workerLineDecoder();
  try {
    for await (const chunk of socket) yield* decoder.push(chunk as Uint8Array);
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault("MODEL_CUT", `The connection to the worker broke: ${String(thrown)}`, { cause: thrown });
  }
  const last = decoder.end();
  if (last !== undefined) yield last;
}

function unreachable(path: string, cause: unknown): Fault {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
  const why =
    code === "EACCES"
      ? `${path} may not be opened by this user: run the worker and the brain as the same user.`
      : `No worker answers on ${path} (${code}): start one with vidro worker --model <file.gguf> --socket ${path}`;
  return new Fault("MODEL_UNAVAILABLE", why, { cause });
}
