import { join } from "node:path";
import { Fault, MOUNT_LIMITS } from "@vidro/core";
import { processEnvironment } from "../config.ts";
import { makeOwnFolder } from "../files/own-files.ts";
import { readMountFile } from "./mount-file.ts";
import { signIn } from "./oauth-sign-in.ts";
import { OAuthTokens } from "./oauth-tokens.ts";

/** Which server of which hand. */
interface ServerSignIn {
  /** The file that names the servers. */
  readonly file: string;
  /** The hand's state folder. */
  readonly state: string;
  readonly server: string;
  /** Shows the person the link to open. */
  readonly open: (link: string) => void;
}

/** The file of tokens in a hand's state. */
export const TOKENS_FILE = "mcp-tokens.json";

/** Has a person sign in at a server that the hand mounts, and keeps the token for the hand. */
export async function signInToServer({ file, state, server: name, open }: ServerSignIn): Promise<void> {
  const server = readMountFile(file, processEnvironment()).find((each) => each.name === name);
  if (server === undefined) throw new Fault("NOT_FOUND", `${file} names no server ${name}.`);
  if (!("url" in server)) throw new Fault("BAD_REQUEST", `${name} is a program of this host: nothing signs in there.`);
  const grant = await signIn(server.url, { open, signal: AbortSignal.timeout(MOUNT_LIMITS.signInMs) });
  new OAuthTokens(join(makeOwnFolder(state), TOKENS_FILE)).keep(server, grant);
}
