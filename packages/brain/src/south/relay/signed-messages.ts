import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { BUS_LIMITS, Fault, isObject, textIn } from "@vidro/core";
import type { Bus, Json, JsonObject, Records } from "@vidro/core";

const KIND = "bus-key";
const ID = "relay";
const OWNER = "brain";
const KEY_BYTES = 32;
/** Length of a signature in hexadecimal digits. */
const SIGNATURE_CHARS = 64;

/** Sends and hears messages of the brains on one store; those of others are not heard. */
export interface SignedMessages {
  /** Sends a message; PAYLOAD_TOO_LARGE when it is longer than the bus takes. */
  send(topic: string, message: JsonObject): void;
  /** Calls `hear` with each message of another brain, and its name. Returns a function that stops it. */
  hear(topic: string, hear: (message: JsonObject, from: string) => void): () => void;
}

/**
 * Messages with a signature whose key is in the store: a program that can write to the bus, but not to the store, cannot
 * order a hand to do anything.
 */
export async function openSignedMessages(bus: Bus, records: Records): Promise<SignedMessages> {
  const key = await sharedKey(records);
  const sign = (topic: string, from: string, text: string): string =>
    createHmac("sha256", key).update(`${topic}\n${from}\n${text}`).digest("hex");
  return {
    send(topic, message) {
      const text = JSON.stringify(message);
      if (text.length + SIGNATURE_CHARS > BUS_LIMITS.messageChars)
        throw new Fault(
          "PAYLOAD_TOO_LARGE",
          "The message is longer than the bus between brains takes. Do it in parts.",
        );
      bus.publish(topic, sign(topic, bus.brain, text) + text);
    },
    hear: (topic, hear) =>
      bus.subscribe(topic, (signed, from) => {
        const text = signed.slice(SIGNATURE_CHARS);
        const said = Buffer.from(signed.slice(0, SIGNATURE_CHARS));
        const due = Buffer.from(sign(topic, from, text));
        if (said.length !== due.length || !timingSafeEqual(said, due)) return;
        const message: Json = JSON.parse(text);
        if (isObject(message)) hear(message, from);
      }),
  };
}

/** The key that the first brain on a store made. */
async function sharedKey(records: Records): Promise<Buffer> {
  const fresh = { kind: KIND, id: ID, owner: OWNER, body: { key: randomBytes(KEY_BYTES).toString("hex") } };
  const made = (await records.get(KIND, ID)) ?? (await records.put(fresh, 0).catch(unlessMade));
  const record = made ?? (await records.get(KIND, ID));
  const key = Buffer.from((record === undefined ? undefined : textIn(record.body, "key")) ?? "", "hex");
  // With a key of its own, this brain would neither be heard nor hear any other.
  if (key.length !== KEY_BYTES)
    throw new Fault("STORE_FAILED", "The key of the messages between brains is not readable.");
  return key;
}

/** Ignores CONFLICT: another brain made the key meanwhile. */
function unlessMade(thrown: unknown): undefined {
  if (!(thrown instanceof Fault && thrown.code === "CONFLICT")) throw thrown;
}
