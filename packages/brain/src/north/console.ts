import type { ServerResponse } from "node:http";
import { Fault, SESSION_LIMITS } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import type { OpenedSession, Sessions } from "../auth/sessions.ts";
import type { Tokens } from "../auth/tokens.ts";
import type { ConsoleFiles } from "../http/console-file.ts";
import { sessionCookie, sessionHeader } from "../http/session-cookie.ts";
import type { Reply, RouteCall, Surface } from "../http/route.ts";
import { plainFault } from "./ops.ts";
import { pageRoutes } from "./console/pages.ts";

/* The web console: its pages, and the sessions of the browsers that show them. */

/** Dependencies of this surface. */
export interface ConsoleDependencies {
  readonly sessions: Pick<Sessions, "createLink" | "open" | "openByLink" | "end">;
  readonly tokens: Pick<Tokens, "verify">;
  readonly consoleFiles: ConsoleFiles;
  readonly version: string;
}

/** Sign-in links, sessions, and the files of the console. */
export function consoleSurface(deps: ConsoleDependencies): Surface {
  const session = { path: "/console/session", answer: SESSION } as const;
  return {
    name: "console",
    faultBody: plainFault,
    routes: [
      {
        method: "POST",
        path: "/console/links",
        summary: "A link that signs a browser in once, with the rights of the token",
        scope: "runs",
        answer: LINK,
        status: 201,
        handle: async (call) => createLink(deps, call),
      },
      {
        ...session,
        method: "POST",
        summary: "Open a session with the code of a link, or with a token; it comes as a cookie",
        scope: undefined,
        body: CREDENTIAL,
        answer: {},
        handle: (call) => openSession(deps, call),
      },
      {
        ...session,
        method: "GET",
        summary: "Whose session it is",
        scope: "runs",
        handle: async ({ caller }) => ({
          json: { owner: caller.owner, admin: caller.admin, scopes: [...caller.scopes], version: deps.version },
        }),
      },
      {
        ...session,
        method: "DELETE",
        summary: "End the session",
        scope: "runs",
        answer: {},
        handle: (call) => endSession(deps, call),
      },
      ...pageRoutes(deps.consoleFiles),
    ],
  };
}

function createLink({ sessions }: ConsoleDependencies, { caller }: RouteCall): Reply {
  const { code, expiresAt } = sessions.createLink(caller.tokenId);
  return { status: 201, json: { path: `/#code=${code}`, expires_at: new Date(expiresAt).toISOString() } };
}

async function openSession({ sessions, tokens }: ConsoleDependencies, { body, headers }: RouteCall): Promise<Reply> {
  const { code, token } = body as { readonly code?: string; readonly token?: string };
  if ((code === undefined) === (token === undefined))
    throw new Fault("BAD_REQUEST", "A session is opened with either the code of a link or a token.");
  const opened =
    code === undefined
      ? await sessions.open((await tokens.verify(token ?? "")).tokenId)
      : await sessions.openByLink(code);
  return withCookie(sessionHeader(headers, opened.secret, lifeOf(opened)), { ok: true });
}

function lifeOf({ expiresAt }: OpenedSession): number {
  return Math.min(SESSION_LIMITS.lifeMs, Math.max(0, expiresAt - Date.now()));
}

async function endSession({ sessions }: ConsoleDependencies, { headers }: RouteCall): Promise<Reply> {
  const secret = sessionCookie(headers);
  if (secret !== undefined) await sessions.end(secret);
  return withCookie(sessionHeader(headers, "", 0), { ok: true });
}

/** A stream, because a JSON reply is kept for a client that repeats its request, and a secret must not be kept. */
function withCookie(cookie: string, json: Json): Reply {
  return {
    async stream(response: ServerResponse) {
      response.writeHead(200, { "set-cookie": cookie, "content-type": "application/json; charset=utf-8" });
      response.end(JSON.stringify(json));
    },
  };
}

const TEXT = { type: "string", minLength: 1, maxLength: 8192 };
const CREDENTIAL: JsonObject = { type: "object", additionalProperties: false, properties: { code: TEXT, token: TEXT } };
const LINK: JsonObject = {
  type: "object",
  required: ["path", "expires_at"],
  properties: {
    path: { type: "string", description: "To be appended to the address of the brain; it counts once." },
    expires_at: { type: "string", format: "date-time" },
  },
};
const SESSION: JsonObject = {
  type: "object",
  required: ["owner", "admin", "scopes", "version"],
  properties: {
    owner: { type: "string" },
    admin: { type: "boolean" },
    scopes: { type: "array", items: { type: "string" } },
    version: { type: "string" },
  },
};
