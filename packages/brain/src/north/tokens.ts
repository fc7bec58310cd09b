import type { ServerResponse } from "node:http";
import { TOKEN_LIMITS } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import type { TokenRequest, TokenRow, Tokens } from "../auth/tokens.ts";
import { andOneMore, pageOf, pageQuery, pageReply } from "../http/paging.ts";
import type { Reply, RouteCall, Surface } from "../http/route.ts";
import { plainFault } from "./ops.ts";

/* The tokens of this brain, for administrators. A secret is shown once, when its token is made. */

/** Dependencies of this surface. */
export interface TokensDependencies {
  readonly tokens: Pick<Tokens, "create" | "list" | "revoke">;
}

/** Makes, lists and revokes tokens. */
export function tokensSurface(deps: TokensDependencies): Surface {
  const common = { scope: "admin" } as const;
  return {
    name: "tokens",
    faultBody: plainFault,
    routes: [
      {
        ...common,
        method: "GET",
        path: "/v1/tokens",
        summary: "The tokens of this brain without their secrets, oldest first",
        query: pageQuery({}),
        answer: object({ tokens: { type: "array", items: ROW } }),
        handle: (call) => list(deps, call),
      },
      {
        ...common,
        method: "POST",
        path: "/v1/tokens",
        summary: "Make a token; its secret is in this answer alone",
        body: INPUT,
        answer: MADE,
        status: 201,
        handle: (call) => create(deps, call),
      },
      {
        ...common,
        method: "DELETE",
        path: "/v1/tokens/{token}",
        summary: "Revoke a token and end its sessions",
        answer: object({ token_id: TEXT, revoked: { const: true } }),
        async handle({ params }) {
          const id = params["token"] ?? "";
          await deps.tokens.revoke(id);
          return { json: { token_id: id, revoked: true } };
        },
      },
    ],
  };
}

async function list({ tokens }: TokensDependencies, { query }: RouteCall): Promise<Reply> {
  const page = pageOf({ query });
  const rows = await tokens.list(andOneMore(page));
  const json = (shown: readonly TokenRow[]): JsonObject => ({ tokens: shown.map(rowOf) });
  return pageReply(rows, page, { id: ({ tokenId }) => tokenId, json });
}

async function create({ tokens }: TokensDependencies, { body, caller }: RouteCall): Promise<Reply> {
  const {
    owner = caller.owner,
    expires_at: expires,
    ...asked
  } = body as {
    owner?: string;
    expires_at?: string;
  } & Pick<TokenRequest, "scopes" | "role">;
  const expiresAt = expires === undefined ? {} : { expiresAt: Date.parse(expires) };
  const made = await tokens.create({ owner, ...asked, ...expiresAt });
  const { tokenId, token, scopes } = made;
  return once({ token_id: tokenId, token, owner, scopes, expires_at: isoTime(made.expiresAt) });
}

/** A stream, because a JSON reply is kept for a client that repeats its request, and a secret must not be kept. */
function once(json: Json): Reply {
  return {
    async stream(response: ServerResponse) {
      response.writeHead(201, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
      response.end(JSON.stringify(json));
    },
  };
}

function rowOf({ tokenId, owner, scopes, expiresAt, revoked, createdAt }: TokenRow): JsonObject {
  return {
    token_id: tokenId,
    owner,
    scopes,
    expires_at: isoTime(expiresAt),
    revoked,
    created_at: isoTime(createdAt),
  };
}

function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

const TEXT = { type: "string" };
const TIME = { type: "string", format: "date-time" };
const SCOPES = {
  type: "array",
  minItems: 1,
  maxItems: TOKEN_LIMITS.scopes,
  items: { type: "string", minLength: 1, maxLength: TOKEN_LIMITS.scopeChars },
  description: "What the token may do; `*` grants everything.",
};
const FIELDS = { token_id: TEXT, owner: TEXT, scopes: SCOPES, expires_at: { anyOf: [TIME, { type: "null" }] } };
const ROW = object({ ...FIELDS, revoked: { type: "boolean" }, created_at: TIME });
const MADE = object({ ...FIELDS, token: TEXT });
const INPUT: JsonObject = {
  type: "object",
  additionalProperties: false,
  properties: {
    owner: { type: "string", minLength: 1, maxLength: TOKEN_LIMITS.ownerChars },
    role: { enum: ["user", "admin"], description: "Scopes by a role, where none are given. Default: user." },
    scopes: SCOPES,
    expires_at: TIME,
  },
};

function object(properties: JsonObject): JsonObject {
  return { type: "object", required: Object.keys(properties), properties };
}
