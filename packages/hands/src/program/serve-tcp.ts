import { readFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { Fault, thrownStack } from "@vidro/core";
import { tcpAddress } from "@vidro/core/wire/agent-tcp";
import { tcpHandName } from "@vidro/core/wire/warrant";
import manifest from "../../package.json" with { type: "json" };
import { readBrainKey } from "../enrol/brain-key.ts";
import { makeOwnFolder } from "../files/own-files.ts";
import { exportSpans } from "../export-spans.ts";
import { localHand } from "../hand.ts";
import { openReloadablePolicy } from "../policy/policy-file.ts";
import { openReceiptSigner } from "../enrol/receipt-signer.ts";
import { serveTcpHand } from "./tcp-hand.ts";
import { surviveErrors } from "./uncaught-errors.ts";
import { printSignalNote, reloadableCertificate, serveSignals } from "./signals.ts";
import { writeLogLine, printNote, printJson } from "./terminal.ts";
import { TokenFile } from "../enrol/token-file.ts";

/** Flags of `vidro-hand serve --tcp`. */
interface TcpHandFlags {
  /** Address to listen on. */
  readonly tcp: string;
  /** The state folder: ledger, policy, and tokens unless `tokens` is given. */
  readonly state: string;
  readonly workspace?: string;
  readonly name?: string;
  /** File of accepted tokens, as `vidro tokens export` writes it. */
  readonly tokens?: string;
  /** File with the certificate of the only brain whose approvals are accepted. */
  readonly brain?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly lab?: boolean;
  readonly json?: boolean;
}

/** The id of the hand. */
const ID = "tcp";

/** Serves a hand without a brain until a signal ends the process; returns its exit code. */
export async function serveTcp(flags: TcpHandFlags): Promise<number> {
  const { state, workspace = ".", tokens: file = join(state, "tokens.json"), name, lab } = flags;
  const own = join(state, "hand");
  for (const folder of [state, own]) makeOwnFolder(folder);
  const tls = await readTls(flags);
  const brain = flags.brain === undefined ? {} : { brain: readBrainKey(await readPem(flags.brain), tcpHandName(ID)) };
  const tokens = new TokenFile(file);
  const policy = openReloadablePolicy({ file: join(state, "policy.json"), workspace, state });
  if (policy.warning !== undefined) printNote(policy.warning);
  const receipts = openReceiptSigner(state);
  const hand = await localHand({ id: ID, workspace, state: own, reserved: state, policy, receipts });
  await exportSpans(hand, manifest.version);
  try {
    const server = await serveTcpHand({
      hand,
      state: own,
      reserved: state,
      verify: (token) => tokens.verify(token),
      version: manifest.version,
      report: (traceId, thrown) =>
        writeLogLine({ level: "error", event: "hand.faulted", trace_id: traceId, message: thrownStack(thrown) }),
      ...tcpAddress(flags.tcp),
      ...(name === undefined ? {} : { name }),
      ...(lab === undefined ? {} : { lab }),
      ...(tls === undefined ? {} : { tls }),
      ...brain,
    });
    surviveErrors();
    serveSignals(
      () => [{ what: "policy", reload: policy.reload }, ...reloadableCertificate(server, () => readTls(flags))],
      printSignalNote,
    );
    if (flags.json === true) printJson({ ready: true, tcp: server.address, pid: process.pid });
    else printNote(`The hand listens on ${server.address}, process ${process.pid}.`);
    await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
    await server.close();
    return 0;
  } finally {
    tokens.close();
    await hand.close();
  }
}

async function readTls({ tlsCert, tlsKey }: TcpHandFlags): Promise<{ cert: string; key: string } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new Fault("BAD_REQUEST", "TLS needs both --tls-cert and --tls-key.");
  const [cert, key] = await Promise.all([tlsCert, tlsKey].map((file) => readPem(file)));
  return { cert: cert ?? "", key: key ?? "" };
}

function readPem(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: Error) => {
    throw new Fault("BAD_REQUEST", `${file} cannot be read: ${cause.message}`, { cause });
  });
}
