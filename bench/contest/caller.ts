import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

/** A client with a connection to a server of requests. */
export interface Caller {
  /** Sends so many requests at once; resolves when all are answered. */
  round(requests: number): Promise<void>;
  close(): void;
}

/** What is asked for, whomever one asks. */
export const ASKED = { v: 1, t: "req", id: "c1", act: "GET_OS_INFO", data: { seconds: 1 } };

/** Sends frames; with a token, it is shown first, and the server greets. Rejects when the server refuses the token. */
export async function framedCaller(port: number, token?: string): Promise<Caller> {
  const socket = await dialled(port);
  const count = frames();
  if (token !== undefined) {
    socket.write(frameOf({ v: 1, t: "req", id: "c0", act: "AUTH", data: { token } }));
    let said = "";
    // The greeting, and the answer to AUTH.
    for (let left = 2; left > 0;) {
      const [chunk] = (await once(socket, "data")) as [Buffer];
      said += chunk.toString("latin1");
      left -= count(chunk);
    }
    // A refusal of each request would be measured otherwise.
    if (!said.includes('"t":"res"')) throw new Error(`The server refuses its token: ${said}`);
  }
  return caller(socket, frameOf(ASKED), count);
}

/** Sends HTTP requests on a connection that is kept. */
export async function httpCaller(port: number): Promise<Caller> {
  const body = JSON.stringify(ASKED);
  const head = "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n";
  const request = Buffer.from(`${head}content-length: ${body.length}\r\n\r\n${body}`);
  return caller(await dialled(port), request, statusLines());
}

/** Calls a method of grpc-js. */
export async function grpcCaller(port: number): Promise<Caller> {
  const { connected } = await import("../peers/grpc.js");
  const client = connected(port);
  await client.ask(ASKED);
  return {
    async round(requests) {
      await Promise.all(Array.from({ length: requests }, () => client.ask(ASKED)));
    },
    close: () => client.close(),
  };
}

async function dialled(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").setNoDelay(true);
  await once(socket, "connect");
  return socket;
}

/** Answers are counted, and none of them is parsed: what is measured is the server. */
function caller(socket: Socket, request: Buffer, count: (chunk: Buffer) => number): Caller {
  let waiting = 0;
  let answered = (): void => undefined;
  let failed: (why: Error) => void = () => undefined;
  socket.on("data", (chunk) => {
    waiting -= count(chunk as Buffer);
    if (waiting <= 0) answered();
  });
  socket.on("close", () => failed(new Error("The server hung up.")));
  return {
    round(requests) {
      waiting = requests;
      socket.write(requests === 1 ? request : Buffer.concat(Array.from({ length: requests }, () => request)));
      return new Promise((resolve, reject) => {
        answered = resolve;
        failed = reject;
      });
    },
    close: () => socket.destroy(),
  };
}

function frameOf(value: object): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
}

/** Counts frames without looking into them. */
function frames(): (chunk: Buffer) => number {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    let [at, count] = [0, 0];
    while (at + 4 <= bytes.length && at + 4 + bytes.readUInt32BE(at) <= bytes.length) {
      at += 4 + bytes.readUInt32BE(at);
      count += 1;
    }
    held = bytes.subarray(at);
    return count;
  };
}

/** Counts answers by their first line, which a chunk may cut in two. */
function statusLines(): (chunk: Buffer) => number {
  const line = "HTTP/1.1 200";
  let tail = "";
  return (chunk) => {
    const text = tail + chunk.toString("latin1");
    tail = text.slice(-(line.length - 1));
    return text.split(line).length - 1;
  };
}
