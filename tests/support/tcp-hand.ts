import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { encodeFrame, frameDecoder } from "@vidro/core/codec";
import type { Json, JsonObject } from "@vidro/core";
import { localHand } from "../../packages/hands/src/hand.ts";
import type { HandPolicy, LocalHandOptions } from "../../packages/hands/src/hand-options.ts";
import { openPolicy } from "../../packages/hands/src/policy/policy-file.ts";
import { serveTcpHand } from "../../packages/hands/src/program/tcp-hand.ts";
import type { TcpHandOptions } from "../../packages/hands/src/program/tcp-hand.ts";
import { openPassingStore } from "./store-under-test.ts";
import { Tokens } from "../../packages/brain/src/auth/tokens.ts";

/** A hand that listens, with tokens of its own; all of it is gone when the test is over. */
export interface ListeningHand {
  readonly port: number;
  readonly address: string;
  readonly folder: string;
  readonly workspace: string;
  readonly tokens: Tokens;
  /** A token with these scopes. */
  token(...scopes: readonly string[]): Promise<string>;
  /** A client that has been greeted. */
  caller(): Promise<Caller>;
  /** A client that has a session with these scopes. */
  session(...scopes: readonly string[]): Promise<Caller>;
  close(): Promise<void>;
}

/** How the hand is to be. */
export type ListeningOptions = Partial<TcpHandOptions> &
  Pick<LocalHandOptions, "tools"> & { readonly policy?: HandPolicy; readonly folder?: string };

/** A policy that lets everything run. */
export const ALLOW_ALL: HandPolicy = {
  version: "allow",
  judge: () => ({ decision: "allow", rule: "allow", class: "read", reason: "The test wants it so." }),
};

/** Serves a hand on a free port of this machine. */
export async function startTcpHand(t: TestContext, options: ListeningOptions = {}): Promise<ListeningHand> {
  const { policy, folder: given, tools, ...rest } = options;
  const folder = given ?? scratch(t);
  const [workspace, state] = [join(folder, "workspace"), join(folder, "state")];
  for (const path of [workspace, state]) mkdirSync(path, { recursive: true });
  const hand = await localHand({
    id: "hand_test",
    workspace,
    state,
    policy: policy ?? openPolicy({ file: join(folder, "policy.json"), workspace, state }),
    ...(tools === undefined ? {} : { tools }),
  });
  t.after(() => hand.close());
  const store = await openPassingStore();
  let close = async (): Promise<void> => undefined;
  // The store is closed last, also where the hand never listens: another hand may verify the same tokens.
  t.after(async () => {
    await close();
    await store.close();
  });
  const tokens = new Tokens(store.records);
  const server = await serveTcpHand({
    hand,
    state,
    host: "127.0.0.1",
    port: 0,
    version: "1.2.3",
    verify: (token) => tokens.verify(token),
    ...rest,
  });
  let closed: Promise<void> | undefined;
  close = () => (closed ??= server.close().then(() => tokens.close()));
  const token = async (...scopes: readonly string[]): Promise<string> =>
    (await tokens.create({ owner: "ana", scopes })).token;
  const caller = (): Promise<Caller> => Caller.greeted(t, server.port);
  return {
    port: server.port,
    address: server.address,
    folder,
    workspace,
    tokens,
    token,
    caller,
    async session(...scopes) {
      const [made, shown] = [await caller(), await token(...scopes)];
      await made.ask("AUTH", { token: shown });
      return made;
    },
    close,
  };
}

/** A folder that is gone after the test. */
export function scratch(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "vidro-tcp-")));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** A message from the server, of whatever kind. */
export interface Message {
  readonly v: number;
  readonly t: string;
  readonly id: string;
  readonly act: string;
  readonly data: { readonly [field: string]: unknown };
  readonly code?: string;
  readonly msg?: string;
  readonly retryAfterMs?: number;
}

/** A client that speaks bytes: everything it sees is kept in order. */
export class Caller {
  readonly socket: Socket;
  readonly #seen: Message[] = [];
  #isOver = false;
  #wake: () => void = () => undefined;
  #next = 0;

  constructor(socket: Socket) {
    const decoder = frameDecoder(8 * 1024 * 1024);
    this.socket = socket;
    socket.on("data", (chunk) => {
      for (const item of decoder.push(chunk as Buffer)) {
        if (item.ok) this.#seen.push(item.value as unknown as Message);
      }
      this.#wake();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  static async greeted(t: TestContext, port: number): Promise<Caller> {
    const socket = connect(port, "127.0.0.1");
    t.after(() => void socket.destroy());
    await once(socket, "connect");
    const caller = new Caller(socket);
    await caller.hears();
    return caller;
  }

  /** The next message; rejects when the connection is closed instead. */
  async hears(): Promise<Message> {
    for (;;) {
      const message = this.#seen.shift();
      if (message !== undefined) return message;
      if (this.#isOver) throw new Error("The connection was closed.");
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** All that comes until the connection is closed. */
  async hearsAll(): Promise<readonly Message[]> {
    while (!this.#isOver) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#seen.splice(0);
  }

  /** So many messages. */
  async hearsMany(count: number): Promise<readonly Message[]> {
    const messages: Message[] = [];
    while (messages.length < count) messages.push(await this.hears());
    return messages;
  }

  /** Sends a request without waiting. */
  send(act: string, data?: JsonObject, id = `t${(this.#next += 1)}`): string {
    this.socket.write(frame({ v: 1, t: "req", id, act, ...(data === undefined ? {} : { data }) }));
    return id;
  }

  /** Sends a request and gives the next message. */
  async ask(act: string, data?: JsonObject): Promise<Message> {
    this.send(act, data);
    return this.hears();
  }
}

/** A value as a frame, whatever its size. */
export function frame(value: Json): Uint8Array {
  return encodeFrame(value, Number.MAX_SAFE_INTEGER);
}

/** Bytes as a frame. */
export function frameOf(body: Uint8Array | string): Buffer {
  const bytes = Buffer.from(body);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
}
