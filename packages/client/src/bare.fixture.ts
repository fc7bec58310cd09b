import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { createContext, SourceTextModule } from "node:vm";
import type * as Client from "./index.ts";

/*
 * A program in a world that has nothing but the language and what browsers have, too: it runs a task on the brain at
 * its first argument and writes the events' names and the result.
 */
const WEB = { fetch, AbortController, URL, TextDecoder, TextEncoder, crypto, performance, setTimeout, clearTimeout };
const world = createContext({ ...WEB });
const loaded = new Map<string, SourceTextModule>();

function load(url: string): SourceTextModule {
  const known = loaded.get(url);
  if (known !== undefined) return known;
  const source = stripTypeScriptTypes(readFileSync(new URL(url), "utf8"));
  const module = new SourceTextModule(source, { identifier: url, context: world });
  loaded.set(url, module);
  return module;
}

const client = load(import.meta.resolve("./index.ts"));
await client.link((specifier, { identifier }) =>
  load(specifier.startsWith(".") ? new URL(specifier, identifier).href : import.meta.resolve(specifier)),
);
await client.evaluate();

const { Vidro } = client.namespace as typeof Client;
const run = await new Vidro({ url: process.argv[2] ?? "", backoffMs: 1 }).run("count");
const types: string[] = [];
for await (const { type } of run) types.push(type);
process.stdout.write(JSON.stringify({ types, result: await run.result() }));
