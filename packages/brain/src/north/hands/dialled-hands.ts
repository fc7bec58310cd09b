import { REGISTER_LIMITS, SIGNED_HTTP_LIMITS, TCP_LIMITS } from "@vidro/core";
import type { DialRequest, HandCatalog, HandDialler, JsonObject } from "@vidro/core";
import { ROW, rowShape } from "../hands.ts";
import { plainFault } from "../ops.ts";
import type { RouteCall, Reply, Surface } from "../../http/route.ts";

/** Dependencies of this surface. */
interface DialledHandsDependencies {
  readonly hands: Pick<HandCatalog, "find">;
  readonly dialler: HandDialler;
}

const word = { type: "string", minLength: 1, maxLength: REGISTER_LIMITS.nameChars } as const;

const DIAL_BODY: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["url", "token"],
  properties: {
    url: {
      type: "string",
      minLength: 1,
      maxLength: SIGNED_HTTP_LIMITS.fieldChars,
      description: "tls://host:port, or tcp://host:port on the brain's own machine.",
    },
    token: {
      type: "string",
      minLength: 1,
      maxLength: TCP_LIMITS.tokenChars,
      description: "A token issued by the hand.",
    },
    name: word,
    tags: { type: "array", maxItems: REGISTER_LIMITS.tags, items: word },
    ca: {
      type: "string",
      minLength: 1,
      maxLength: REGISTER_LIMITS.caChars,
      description: "The authority of the hand's certificate, in PEM.",
    },
    lab: { type: "boolean", description: "Allows TCP without TLS to another machine, in a laboratory." },
  },
};

/** Dials hands that listen. */
export function dialledHands(deps: DialledHandsDependencies): Surface {
  return {
    name: "dialled-hands",
    faultBody: plainFault,
    routes: [
      {
        method: "POST",
        path: "/v1/hands/dialed",
        summary: "Dial a hand that listens, and keep the connection until it is revoked",
        scope: "admin",
        body: DIAL_BODY,
        answer: ROW,
        status: 201,
        handle: (call) => dial(deps, call),
      },
    ],
  };
}

async function dial({ hands, dialler }: DialledHandsDependencies, { body, caller }: RouteCall): Promise<Reply> {
  const request = body as unknown as Omit<DialRequest, "owner">;
  const id = await dialler.dial({ ...request, owner: caller.owner });
  return { status: 201, json: rowShape(hands.find(id, caller)) };
}
