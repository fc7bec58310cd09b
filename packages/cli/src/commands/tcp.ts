import { TcpClient, TcpError } from "@vidro/client/tcp";
import type { TcpAddress } from "@vidro/client/tcp";
import { Fault, isObject } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { Json, JsonObject } from "@vidro/core";
import { tcpAddress, tcpFaultCode } from "@vidro/core/wire/agent-tcp";
import { EXIT } from "../program/exit-codes.ts";
import { commandConfig } from "../program/settings.ts";
import { readPemFile } from "../program/read-pem-file.ts";
import { printText, writeJson } from "../program/output.ts";

/** Flags of `vidro tcp`. */
export interface TcpFlags {
  readonly token?: string;
  readonly tls?: boolean;
  readonly ca?: string;
  readonly json?: boolean;
}

/** Sends one request to a server of the TCP agent protocol and prints the data of its answer. */
export async function tcp(address: string, [act = "", ...words]: readonly string[], flags: TcpFlags): Promise<number> {
  const data = dataOf(words);
  const token = commandConfig({ token: flags.token }).get("token");
  const client = new TcpClient({
    ...tcpAddress(address),
    ...(await tlsOf(flags)),
    ...(token === undefined || act === "AUTH" ? {} : { token }),
    reconnect: false,
  });
  try {
    const hello = await client.connect();
    const answer = act === "HELLO" ? { ...hello } : await client.request(act, data);
    if (flags.json === true) writeJson(answer);
    else printText(JSON.stringify(answer, null, 2));
    return EXIT.ok;
  } catch (thrown) {
    if (!(thrown instanceof TcpError)) throw thrown;
    throw new Fault(tcpFaultCode(thrown.code), `${thrown.code}: ${thrown.message}`, { cause: thrown });
  } finally {
    await client.close();
  }
}

/** The data of a request: one JSON object, or `key=value` words whose values are parsed as JSON where they can be. */
function dataOf(words: readonly string[]): JsonObject {
  const [first = "{}", ...others] = words;
  if (others.length === 0 && first.startsWith("{")) {
    const data = parseJson(first);
    if (isObject(data)) return data;
  }
  return Object.fromEntries(words.map(pairOf));
}

function pairOf(word: string): readonly [string, Json] {
  const at = word.indexOf("=");
  if (at < 1) throw new Fault("BAD_REQUEST", `${JSON.stringify(word)} is neither a JSON object nor key=value.`);
  const [key, text] = [word.slice(0, at), word.slice(at + 1)];
  return [key, /^[\d[{"-]|^(?:true|false)$/.test(text) ? jsonOr(text) : text];
}

function jsonOr(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

async function tlsOf({ tls, ca }: TcpFlags): Promise<Pick<TcpAddress, "tls">> {
  if (ca === undefined) return tls === true ? { tls } : {};
  return { tls: { ca: await readPemFile(ca) } };
}
