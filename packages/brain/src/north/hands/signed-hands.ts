import { SIGNED_HTTP_LIMITS } from "@vidro/core";
import type { HandAdmission, HandCatalog, JsonObject } from "@vidro/core";
import { plainFault } from "../ops.ts";
import type { RouteCall, Reply, Surface } from "../../http/route.ts";

/** Dependencies of this surface. */
interface SignedHandsDependencies {
  readonly hands: Pick<HandCatalog, "find">;
  readonly admission: Pick<HandAdmission, "rotateKey" | "allowAddress">;
}

const NOTHING: JsonObject = { type: "object", additionalProperties: false, properties: {} };
const ID = { type: "string", description: "Id of the hand." };
const NEXT: JsonObject = {
  type: "object",
  required: ["id", "key_id"],
  properties: {
    id: ID,
    key_id: { type: "string", description: "Its next key, in use from the first message that is signed with it." },
  },
};
const ADDRESS: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["url"],
  properties: {
    url: {
      type: ["string", "null"],
      minLength: 1,
      maxLength: SIGNED_HTTP_LIMITS.fieldChars,
      description: "Scheme, host and port that the hand announces; null forbids calls.",
    },
  },
};
const ALLOWED: JsonObject = {
  type: "object",
  required: ["id", "url"],
  properties: { id: ID, url: { type: ["string", "null"] } },
};

/** Rotates the keys of hands that sign, and allows the addresses of those that listen. */
export function signedHands({ hands, admission }: SignedHandsDependencies): Surface {
  const idIn = ({ params, caller }: RouteCall): string => hands.find(params["hand"] ?? "", caller).id;
  const change = { method: "POST", scope: "admin" } as const;
  return {
    name: "signed-hands",
    faultBody: plainFault,
    routes: [
      {
        ...change,
        path: "/v1/hands/{hand}/rotate-key",
        summary: "Rotate the key of a hand that signs its messages",
        body: NOTHING,
        answer: NEXT,
        async handle(call): Promise<Reply> {
          const id = idIn(call);
          return { json: { id, key_id: await admission.rotateKey(id) } };
        },
      },
      {
        ...change,
        path: "/v1/hands/{hand}/address",
        summary: "Allow calls to a hand that listens at an address, from its next hello on",
        body: ADDRESS,
        answer: ALLOWED,
        async handle(call): Promise<Reply> {
          const id = idIn(call);
          const { url } = call.body as { readonly url: string | null };
          await admission.allowAddress(id, url ?? undefined);
          return { json: { id, url } };
        },
      },
    ],
  };
}
