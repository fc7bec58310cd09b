import type { WebSocket } from "ws";
import { SOUTHBOUND_LIMITS } from "@vidro/core";
import type { Bus, GatewayName, Records } from "@vidro/core";
import type { ExecutorGateway } from "@vidro/core/wire/executor-gateway";
import type { Log } from "../observe/log.ts";
import type { TakeSample } from "../observe/telemetry.ts";
import { TcpDialler } from "./agent-tcp/tcp-dialler.ts";
import { HandListener, southFolder } from "./agent-ws/hand-listener.ts";
import type { ArchiveSource } from "./enrolment/archives.ts";
import { executorGateway } from "./executor-ws.ts";
import { standardTools } from "./local.ts";
import type { HandRegister } from "./register/hand-register.ts";
import type { LocalHands } from "./register/local-hands.ts";

/** Dependencies of the gateways of a daemon. */
interface GatewayOptions {
  /** The brain's own folder. */
  readonly home: string;
  readonly hands: HandRegister;
  /** The hand of this machine, unless it was left out at the start. */
  readonly local?: LocalHands | undefined;
  readonly records: Records;
  /** Takes the telemetry samples of hands. */
  readonly takeSample: TakeSample;
  /** Where hands on other machines connect; without both, the listener opens with the first invitation. */
  readonly southbound:
    | { readonly port?: number; readonly hosts?: readonly string[]; readonly archives?: ArchiveSource }
    | undefined;
  readonly version: string;
  /** The way to other brains, if one is set. */
  readonly bus?: Bus;
  readonly log: Log;
}

/** The ways by which a daemon reaches hands, by their names. Each is loaded when it is first used. */
export interface Gateways extends Record<GatewayName, unknown> {
  readonly local: LocalHands | undefined;
  readonly "executor-ws": () => Promise<ExecutorGateway<WebSocket>>;
  /** It shares one listener with `agent-http`: a host is invited once, and its link decides which of both it speaks. */
  readonly "agent-ws": HandListener;
  readonly "agent-http": HandListener;
  readonly "agent-tcp": TcpDialler;
}

/** All gateways of a daemon; a new one is a file and a line here. */
export function makeGateways(options: GatewayOptions): Gateways {
  const { home, hands, local, records, log } = options;
  const listener = makeListener(options);
  return {
    local,
    "executor-ws": () => executorGateway({ hands, log }),
    "agent-ws": listener,
    "agent-http": listener,
    "agent-tcp": new TcpDialler({ folder: southFolder(home), records, hands, log }),
  };
}

function makeListener({ southbound, takeSample: take, ...options }: GatewayOptions): HandListener {
  const { port, hosts = [], archives } = southbound ?? {};
  return new HandListener({
    ...options,
    ...(archives === undefined ? {} : { archives }),
    asked: port !== undefined || hosts.length > 0,
    port: port ?? SOUTHBOUND_LIMITS.port,
    hosts,
    take,
    standardTools,
    now: Date.now,
  });
}
