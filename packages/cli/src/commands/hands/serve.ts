import { join } from "node:path";
import { Fault } from "@vidro/core";
import { tcpAddress } from "@vidro/core/wire/agent-tcp";
import { tcpHandName } from "@vidro/core/wire/warrant";
import type { AgentTcp } from "@vidro/hands";
import { printSignalNote, reloadableCertificate, serveSignals } from "@vidro/hands/signals";
import manifest from "../../../package.json" with { type: "json" };
import { EXIT } from "../../program/exit-codes.ts";
import { requireFolder } from "../../program/require-folder.ts";
import { faultLog } from "../../program/fault-log.ts";
import { paint } from "../../view/symbols.ts";
import { readPemFile } from "../../program/read-pem-file.ts";
import { say, writeJson } from "../../program/output.ts";
import { withHomeBrain } from "../../brain-api/open-brain-api.ts";
import { homeFolder } from "../../program/settings.ts";

/** Flags of `vidro hands serve`. */
interface ServeFlags {
  readonly tcp: string;
  readonly workspace?: string;
  readonly name?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** Certificate of the only brain whose approvals are accepted. */
  readonly brain?: string;
  readonly lab?: boolean;
  readonly json?: boolean;
}

/** Serves a folder of this machine by TCP, with the tokens of this home, until a signal ends it. */
export async function serveFolder(flags: ServeFlags): Promise<number> {
  const home = homeFolder();
  const ending = whenSignalled();
  return withHomeBrain(async (brain) => {
    const [{ Tokens }, { readBrainKey: brainKey, loadTcpHand, surviveErrors }] = await Promise.all([
      import("@vidro/brain/home"),
      import("@vidro/hands"),
    ]);
    const { serveTcpHand } = await loadTcpHand();
    const tokens = new Tokens(brain.records);
    try {
      const hand = await brain.hand(requireFolder(flags.workspace ?? "."));
      const pinned = flags.brain && brainKey(await readPemFile(flags.brain), tcpHandName(hand.id));
      const server = await serveTcpHand({
        hand,
        ...(pinned ? { brain: pinned } : {}),
        state: join(home, "hand"),
        reserved: home,
        verify: (token) => tokens.verify(token),
        version: manifest.version,
        report: faultLog(home),
        ...tcpAddress(flags.tcp),
        ...(await settingsOf(flags)),
      });
      surviveErrors();
      serveSignals(
        () => [...brain.reloadables, ...reloadableCertificate(server, async () => (await settingsOf(flags)).tls)],
        printSignalNote,
      );
      tell(server, flags);
      await ending;
      await server.close();
      return EXIT.ok;
    } finally {
      tokens.close();
    }
  });
}

function tell({ address }: AgentTcp, { json, lab, tlsCert }: ServeFlags): void {
  if (json === true) return writeJson({ ready: true, tcp: address, pid: process.pid });
  say(`${paint("green", "The hand listens")} on ${paint("bold", address)}, process ${process.pid}.`);
  say("  a token: vidro tokens create --scopes getosinfo,ps,watch,getwatches,oscmd");
  say(`  try it:  vidro tcp ${address}${tlsCert === undefined ? "" : " --tls"} GET_OS_INFO seconds=5 --token <token>`);
  if (lab === true) say("  Laboratory mode: everyone on the network path can read tokens and answers.");
}

interface Settings {
  readonly name?: string;
  readonly lab?: boolean;
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** The options of the server besides its address; flags that were not given are left out. */
async function settingsOf({ name, lab, tlsCert, tlsKey }: ServeFlags): Promise<Settings> {
  const said = { ...(name === undefined ? {} : { name }), ...(lab === undefined ? {} : { lab }) };
  if (tlsCert === undefined && tlsKey === undefined) return said;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new Fault("BAD_REQUEST", "TLS needs both --tls-cert and --tls-key.");
  return { ...said, tls: { cert: await readPemFile(tlsCert), key: await readPemFile(tlsKey) } };
}

/** Resolves with the first signal; the second one ends the process at once. */
function whenSignalled(): Promise<void> {
  return new Promise((resolve) => {
    let isEnding = false;
    const heard = (): void => {
      if (isEnding) process.exit(EXIT.terminated);
      isEnding = true;
      resolve();
    };
    process.on("SIGINT", heard).on("SIGTERM", heard);
  });
}
