import { MIB } from "@vidro/core";
import type { HandRecord } from "@vidro/client";
import { byteWords, oneLine, spanWords } from "@vidro/core/text";
import type { JsonObject } from "@vidro/core";
import type { BrainFlags } from "../brain-api/brain-address.ts";
import { EXIT } from "../program/exit-codes.ts";
import { withBrainApi } from "../brain-api/open-brain-api.ts";
import { paint, paintWord } from "../view/symbols.ts";
import { print, say, writeJson } from "../program/output.ts";

const NAME_CHARS = 20;
const STATE_CHARS = 11;
const GATEWAY_CHARS = 11;
const TAGS_CHARS = 30;
const COLOURS = { ok: "green", degraded: "yellow", down: "red", quarantined: "yellow", revoked: "dim" } as const;

const HEADING = [
  "HAND".padEnd(NAME_CHARS),
  "STATE".padEnd(STATE_CHARS),
  "LINK".padEnd(GATEWAY_CHARS),
  "TAGS".padEnd(TAGS_CHARS),
  "ID",
].join("  ");

type Flags = BrainFlags & { readonly json?: boolean };

/** Lists hands, this machine's first, then by name. */
export async function listHands(flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ hands }) => {
    const all = await hands.list();
    if (flags.json !== true) print(paint("dim", HEADING));
    for (const hand of all) {
      if (flags.json === true) writeJson(handLine(hand));
      else print(row(hand));
    }
    const isAlone = all.every(({ gateway }) => gateway === "local");
    if (isAlone && flags.json !== true) say("No other machine has a hand here yet. Invite one: vidro hands invite");
    return EXIT.ok;
  });
}

/** Prints everything known about a hand. */
export async function showHand(named: string, flags: Flags): Promise<number> {
  return withBrainApi(flags, async ({ hands }) => {
    const hand = await hands.find(named);
    if (flags.json === true) writeJson(handLine(hand));
    else print(...page(hand));
    return EXIT.ok;
  });
}

/** Revokes, quarantines or releases a hand. */
export async function changeHand(
  word: "revoke" | "quarantine" | "release",
  named: string,
  flags: Flags & { readonly why?: string },
): Promise<number> {
  return withBrainApi(flags, async ({ hands }) => {
    const changed = await hands[word](named, flags.why === undefined ? {} : { why: flags.why });
    if (flags.json === true) writeJson(handLine(changed));
    else say(`${changed.name} is ${changed.barred ?? "free to work"}.`);
    return EXIT.ok;
  });
}

function stateOrBar({ state, barred }: HandRecord): string {
  return barred ?? state;
}

function row(hand: HandRecord): string {
  const state = stateOrBar(hand);
  return [
    paint("bold", oneLine(hand.name, NAME_CHARS).padEnd(NAME_CHARS)),
    paintWord(COLOURS, oneLine(state, NAME_CHARS), STATE_CHARS),
    hand.gateway.padEnd(GATEWAY_CHARS),
    oneLine(hand.tags.join(","), TAGS_CHARS).padEnd(TAGS_CHARS),
    paint("dim", hand.id),
  ].join("  ");
}

function page(hand: HandRecord): readonly string[] {
  const { id, owner, gateway, version, workspace, tags, tools, why, lastSeenAt, telemetry } = hand;
  const facts = [
    ["id", id],
    ["state", why === null ? stateOrBar(hand) : `${stateOrBar(hand)}: ${why}`],
    ["seen", `${spanWords(Math.max(0, Date.now() - lastSeenAt))} ago`],
    ["owner", owner],
    ["by", `${gateway}, version ${version}`],
    ["folder", workspace],
    ["tags", tags.join(", ") || "none"],
    ["tools", tools.join(", ") || "none"],
    ...(telemetry === null ? [] : [["host", telemetryWords(telemetry.payload)] as const]),
  ] as const;
  return [
    paint("bold", hand.name),
    ...facts.map(([fact, value]) => `  ${paint("dim", `${fact}:`.padEnd(8))} ${value}`),
  ];
}

/** Telemetry in words where it has the fields of our own hands, else as JSON. */
function telemetryWords(payload: JsonObject): string {
  const { cpu, mem, disk, load } = payload;
  if (typeof cpu !== "number" || typeof mem !== "number") return JSON.stringify(payload);
  return [
    `cpu ${Math.round(cpu * 100)} %`,
    `memory ${byteWords(mem * MIB)} used`,
    ...(typeof disk === "number" ? [`disk ${byteWords(disk * MIB)} used`] : []),
    ...(typeof load === "number" ? [`load ${load}`] : []),
  ].join(", ");
}

/** A hand as a line of JSON. */
export function handLine(hand: HandRecord): { readonly id: string; readonly [field: string]: unknown } {
  const { lastSeenAt, createdAt, telemetry, ...rest } = hand;
  return {
    ...rest,
    last_seen_at: new Date(lastSeenAt).toISOString(),
    created_at: new Date(createdAt).toISOString(),
    telemetry: telemetry === null ? null : { at: new Date(telemetry.at).toISOString(), payload: telemetry.payload },
  };
}
