import { createHash } from "node:crypto";
import type { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { request } from "node:https";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { asFault, Fault, FAULTS, isObject, SOUTHBOUND_LIMITS, textIn } from "@vidro/core";
import { parseJson } from "@vidro/core/codec";
import type { FaultCode, JsonObject } from "@vidro/core";
import {
  ENROL_PATH,
  parseInvitation,
  formatInvitationProof,
  RENEW_PATH,
  SOUTHBOUND_PATH,
} from "@vidro/core/wire/enrolment";
import type { EnrolRequest } from "@vidro/core/wire/enrolment";
import { newKeyAndRequest } from "./csr.ts";
import type { HandIdentity } from "./hand-state-folder.ts";

/** Invitation and name with which a host joins a brain. */
export interface EnrolOptions {
  /** Address from the invitation: wss://host:port/southbound. */
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly tags?: readonly string[];
  readonly workspace: string;
  /** Stores the first key of a host that signs its messages; without it, the host asks for a certificate. */
  readonly keepKey?: (key: { readonly keyid: string; readonly root: string }) => Promise<unknown>;
}

/**
 * Joins a brain. The private key is created here and never leaves the host; nothing is sent before the server has shown
 * the authority that the invitation names (else CERTIFICATE_INVALID).
 */
export async function enrol(joining: EnrolOptions): Promise<HandIdentity> {
  const { name, tags, workspace } = joining;
  const url = parseAddress(joining.url);
  const token = parseInvitation(joining.token);
  const ca = await fetchAuthority(url, token.fingerprint);
  const asked = { token: formatInvitationProof(token), name, ...(tags === undefined ? {} : { tags }) };
  if (joining.keepKey !== undefined) {
    const identity = await enrolSigning({ ...joining, keepKey: joining.keepKey }, { url, ca, asked });
    return { ...identity, invitation: token.id };
  }
  const { key, csr } = newKeyAndRequest(name);
  const reply = await post({ url, path: ENROL_PATH, tls: { ca } }, { ...asked, csr });
  const [agentId, certificate] = [textIn(reply, "agent_id"), textIn(reply, "certificate")];
  if (agentId === undefined || certificate === undefined) throw noBrainFault(url);
  const own = { ca, key, certificate, workspace, invitation: token.id };
  return { agentId, name: textIn(reply, "name") ?? name, url: url.href, ...own };
}

/** Renews a certificate that expired while the host was off; the brain may refuse (CERTIFICATE_INVALID). */
export async function renewExpired(identity: HandIdentity): Promise<Pick<HandIdentity, "key" | "certificate">> {
  const { ca, key: oldKey, certificate: cert } = identity;
  const url = new URL(identity.url);
  const { key, csr } = newKeyAndRequest(identity.name);
  const reply = await post({ url, path: RENEW_PATH, tls: { ca, key: oldKey, cert } }, { csr });
  const certificate = textIn(reply, "certificate");
  if (certificate === undefined) throw noBrainFault(url);
  return { key, certificate };
}

interface SigningEnrolment {
  readonly url: URL;
  readonly ca: string;
  readonly asked: EnrolRequest;
}

/** Joins as a hand that signs its messages, with a key that the brain creates. */
async function enrolSigning(
  joining: EnrolOptions & Required<Pick<EnrolOptions, "keepKey">>,
  how: SigningEnrolment,
): Promise<HandIdentity> {
  const { url, ca, asked } = how;
  const reply = await post({ url, path: ENROL_PATH, tls: { ca } }, asked);
  const [agentId, keyid, root] = [textIn(reply, "agent_id"), textIn(reply, "key_id"), textIn(reply, "key")];
  if (agentId === undefined || keyid === undefined || root === undefined) throw noBrainFault(url);
  await joining.keepKey({ keyid, root });
  const { name, workspace } = joining;
  const own = { key: "", certificate: "", workspace };
  return { agentId, name: textIn(reply, "name") ?? name, url: `https://${url.host}`, ca, ...own };
}

/** The address of a brain's southbound listener. */
function parseAddress(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isOne = url?.protocol === "wss:" && url.username === "" && url.pathname === SOUTHBOUND_PATH;
  if (url !== undefined && isOne) return url;
  throw new Fault("BAD_REQUEST", "A hand joins at an address like wss://brain.example:3121/southbound.");
}

/** Host, port and TLS server name; an IP address is not sent as a server name. */
function tlsTarget(url: URL): { readonly host: string; readonly port: number; readonly servername?: string } {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port === "" ? 443 : url.port);
  return isIP(host) === 0 ? { host, port, servername: host } : { host, port };
}

/** The server's authority certificate in PEM, if it has the expected fingerprint. Only a TLS handshake is made. */
async function fetchAuthority(url: URL, fingerprint: string): Promise<string> {
  const socket = connect({
    ...tlsTarget(url),
    minVersion: "TLSv1.3",
    ALPNProtocols: ["http/1.1"],
    // The server is verified by the fingerprint of its authority, below.
    rejectUnauthorized: false,
  });
  socket.setTimeout(SOUTHBOUND_LIMITS.answerMs, () => socket.destroy(new Error("it took too long")));
  try {
    await once(socket, "secureConnect");
    let certificate: X509Certificate | undefined = socket.getPeerX509Certificate();
    for (let depth = 0; certificate !== undefined && depth < CHAIN; depth++) {
      if (createHash("sha256").update(certificate.raw).digest("base64url") === fingerprint)
        return certificate.toString();
      certificate = certificate.issuerCertificate;
    }
  } catch (thrown) {
    throw unreachableFault(url, thrown);
  } finally {
    socket.destroy();
  }
  throw new Fault(
    "CERTIFICATE_INVALID",
    `What answers at ${url.host} is not the brain that has invited; it was told nothing.`,
  );
}

/** Number of certificates of the chain that are checked. */
const CHAIN = 4;

/** Target of a request, and the certificates that are used. */
interface Destination {
  readonly url: URL;
  readonly path: string;
  readonly tls: { readonly ca: string; readonly key?: string; readonly cert?: string };
}

async function post(to: Destination, asked: EnrolRequest | { readonly csr: string }): Promise<JsonObject> {
  const { url, path, tls } = to;
  const body = JSON.stringify(asked);
  const sent = request({
    ...tlsTarget(url),
    ...tls,
    minVersion: "TLSv1.3",
    agent: false,
    method: "POST",
    path,
    headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), host: url.host },
    signal: AbortSignal.timeout(SOUTHBOUND_LIMITS.answerMs),
  });
  sent.end(body);
  let text = "";
  try {
    const [response] = (await once(sent, "response")) as [NodeJS.ReadableStream];
    // The decoder keeps a character together whose bytes come in two chunks.
    response.setEncoding("utf8");
    for await (const chunk of response as AsyncIterable<string>) {
      text += chunk;
      if (text.length > ANSWER_CHARS) throw new Error("its answer is too long");
    }
  } catch (thrown) {
    throw unreachableFault(url, thrown);
  }
  const reply = parseAnswer(text);
  if (reply?.["ok"] === true) return reply;
  throw readRefusal(reply) ?? new Fault("BRAIN_UNREACHABLE", `What answers at ${url.host} is no brain.`);
}

const ANSWER_CHARS = 64 * 1024;

function parseAnswer(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The fault in a refusal; undefined if the reply has no known code. */
export function readRefusal(reply: JsonObject | undefined): Fault | undefined {
  const code = textIn(reply, "code");
  if (code === undefined || !Object.hasOwn(FAULTS, code)) return undefined;
  const wait = reply?.["retry_after_ms"];
  return new Fault(code as FaultCode, textIn(reply, "error"), typeof wait === "number" ? { retryAfterMs: wait } : {});
}

function noBrainFault({ host }: URL): Fault {
  return new Fault("BRAIN_UNREACHABLE", `What answers at ${host} is no brain of this version.`);
}

function unreachableFault(url: URL, thrown: unknown): Fault {
  return new Fault("BRAIN_UNREACHABLE", `The brain at ${url.host} cannot be reached: ${asFault(thrown).message}`, {
    cause: thrown,
  });
}
