import { RELAY_LIMITS } from "@vidro/core";
import type { Bus, Records } from "@vidro/core";
import type { HandRegister } from "./register/hand-register.ts";
import { HandPresence } from "./relay/hand-presence.ts";
import { RelayCalls } from "./relay/relay-calls.ts";
import { RelayServer } from "./relay/relay-server.ts";
import { openSignedMessages } from "./relay/signed-messages.ts";

/** Dependencies of the relay. */
export interface RelayOptions {
  readonly bus: Bus;
  readonly records: Records;
  readonly hands: HandRegister;
  readonly report: (thrown: unknown) => void;
}

/**
 * Lets runs at every brain use the hands that are connected to any of them. An order that is lost on its way is ordered
 * again under its id, and the hand's ledger makes that harmless, as with every other link. Resolves to how it ends.
 */
export async function relayHands({ bus, records, hands, report }: RelayOptions): Promise<() => void> {
  const messages = await openSignedMessages(bus, records);
  const { brain } = bus;
  const server = new RelayServer({ messages, brain, ownLink: (hand) => hands.ownLink(hand) });
  const calls = new RelayCalls(messages, brain);
  const presence = new HandPresence({ messages, calls, hands, report });
  const timer = setInterval(() => {
    presence.tend();
    server.tend();
    calls.tend();
  }, RELAY_LIMITS.beatMs).unref();
  const stop = bus.watch((isUp) => (isUp ? presence.announce() : presence.clear()));
  return () => {
    clearInterval(timer);
    stop();
    presence.close();
    server.close();
    calls.close();
  };
}
