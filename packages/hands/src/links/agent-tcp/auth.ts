import { randomBytes } from "node:crypto";
import { AUTH_SCHEMA } from "@vidro/core/wire/agent-tcp-schemas";
import type { JsonObject } from "@vidro/core";
import { defineCommand } from "./command.ts";
import type { CommandContext } from "./command.ts";

const SESSION_BYTES = 12;

/** Gives the connection a session; a second one replaces the first [002-14, 002-15]. */
export const authCommand = defineCommand({
  act: "AUTH",
  schema: AUTH_SCHEMA,
  isOpen: true,
  isExclusive: true,
  async run({ token, maxFrame }, call) {
    const { context } = call;
    const bearer = await call.verifyToken(token);
    const sessionId = `S-${randomBytes(SESSION_BYTES).toString("base64url")}`;
    call.startSession({ ...bearer, sessionId }, maxFrame);
    const { scopes, expiresAt } = bearer;
    const isBrain = scopes.has("hand") || scopes.has("*");
    return { sessionId, scopes: [...scopes], expiresAt, ...(isBrain ? { hand: describeHand(context) } : {}) };
  },
});

/** Description of the hand for a brain. */
function describeHand({ hand, name, version }: CommandContext): JsonObject {
  const tools = hand.tools.map((tool) => ({ ...tool }));
  const signing = hand.receiptKey === undefined ? {} : { receiptKey: hand.receiptKey };
  return { id: hand.id, name, version, workspace: hand.workspace, tools, ...signing };
}
