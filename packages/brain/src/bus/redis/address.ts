import { readFileSync } from "node:fs";
import { Fault } from "@vidro/core";

/** Where a Redis is and how to connect to it. */
export interface RedisAddress {
  readonly kind: "single" | "sentinel" | "cluster";
  /** Its servers, or its sentinels. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** The name of the master that the sentinels watch. */
  readonly master: string;
  readonly database: number;
  readonly username?: string;
  readonly password?: string;
  readonly tls: { readonly ca?: Buffer } | undefined;
  /** What every key and topic begins with. */
  readonly prefix: string;
  /** The address for people, without its password. */
  readonly name: string;
}

const FORM =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<login>[^@/]*)@)?(?<nodes>[^@/?]+)(?:\/(?<path>[^?/]*))?(?:\?(?<query>.*))?$/u;
const PORTS = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;
const MOST_PORT = 65_535;
const QUERY = new Set(["prefix", "sslrootcert"]);

/** Reads `redis[s][+sentinel|+cluster]://[user:password@]host:port[,host:port][/database or master][?prefix=]`. */
export function redisAddress(text: string): RedisAddress {
  const found = FORM.exec(text)?.groups;
  if (found === undefined) throw refusal("It is not redis://[user:password@]host:port[/database].");
  const kind = found["kind"] === "sentinel" || found["kind"] === "cluster" ? found["kind"] : "single";
  const nodes = (found["nodes"] ?? "").split(",").map((node) => readNode(node, PORTS[kind]));
  if (kind === "single" && nodes.length > 1)
    throw refusal("Several servers need redis+sentinel:// or redis+cluster://.");
  const path = found["path"] ?? "";
  if (kind === "sentinel" && path === "")
    throw refusal("It does not name the master: redis+sentinel://host:26379/name.");
  if (kind !== "sentinel" && !/^\d{0,4}$/u.test(path)) throw refusal("The database is not a number.");
  const query = new URLSearchParams(found["query"] ?? "");
  for (const word of query.keys()) if (!QUERY.has(word)) throw refusal(`It has no setting ${JSON.stringify(word)}.`);
  // Only the first colon parts them: a password may have more.
  const [, username, password] = (/^([^:]*):?(.*)$/su.exec(found["login"] ?? "") ?? []).map(decodePart);
  const ca = query.get("sslrootcert");
  const scheme = text.slice(0, text.indexOf("://"));
  return {
    kind,
    nodes,
    master: kind === "sentinel" ? decodePart(path) : "",
    database: kind === "sentinel" ? 0 : Number(path),
    ...(username === undefined || username === "" ? {} : { username }),
    ...(password === undefined || password === "" ? {} : { password }),
    tls: found["tls"] === "s" ? (ca === null ? {} : { ca: readCertificate(ca) }) : undefined,
    prefix: query.get("prefix") ?? "",
    name: `${scheme}://${found["nodes"] ?? ""}${path === "" ? "" : `/${path}`}`,
  };
}

function readNode(text: string, usual: number): { readonly host: string; readonly port: number } {
  const [, host, port] = /^(\[[\da-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/u.exec(text) ?? [];
  const number = port === undefined ? usual : Number(port);
  if (host === undefined || number < 1 || number > MOST_PORT)
    throw refusal(`${JSON.stringify(text)} is no host and port.`);
  return { host: host.replaceAll(/[[\]]/gu, ""), port: number };
}

/** A part of the address without its percent codes; the fault does not repeat it, for it may be a password. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refusal("A % in it begins no code of two hexadecimal digits: write %25 for a %.");
  }
}

function readCertificate(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw refusal(`The file ${JSON.stringify(path)} of sslrootcert cannot be read.`);
  }
}

function refusal(why: string): Fault {
  return new Fault("BAD_REQUEST", `The address of the bus cannot be used. ${why} See vidro config explain bus.`);
}
