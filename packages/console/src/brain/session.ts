import { textIn } from "@vidro/core";
import { request } from "./connection.ts";

/** The person who is signed in, their rights, and the version of the brain. */
export interface Session {
  readonly owner: string;
  readonly isAdmin: boolean;
  readonly scopes: readonly string[];
  readonly version: string;
}

/** Reads the session of this browser; rejects when there is none. */
export async function readSession(): Promise<Session> {
  const said = await request("GET", "/console/session");
  const { scopes } = said;
  return {
    owner: textIn(said, "owner") ?? "",
    isAdmin: said["admin"] === true,
    scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : [],
    version: textIn(said, "version") ?? "",
  };
}
