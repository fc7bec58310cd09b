import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { asFault, canonicalJson, Fault, isObject } from "@vidro/core";
import type { Json, JsonObject } from "@vidro/core";
import type { ForeignTool } from "./server-client.ts";

/** sha256 of all that a server says of a tool: its name, its words, its schema and its effects. */
export function definitionOf({ name, description, inputSchema, annotations }: ForeignTool): string {
  return createHash("sha256").update(canonicalJson({ name, description, inputSchema, annotations })).digest("hex");
}

/** The definitions of tools as they were first seen, or last approved, in a file of the hand's state. */
export class ToolPins {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** The pinned definition of a tool; undefined for one that was never seen. Throws BAD_REQUEST when the file is damaged. */
  find(tool: string): string | undefined {
    const pinned = this.#read()[tool];
    return typeof pinned === "string" ? pinned : undefined;
  }

  /** Pins definitions of tools, in place of those before. */
  pin(definitions: { readonly [tool: string]: string }): void {
    const fresh = `${this.#file}.${process.pid}.new`;
    writeFileSync(fresh, `${JSON.stringify({ ...this.#read(), ...definitions }, null, 2)}\n`, { mode: 0o600 });
    renameSync(fresh, this.#file);
  }

  #read(): JsonObject {
    if (!existsSync(this.#file)) return {};
    try {
      const value = JSON.parse(readFileSync(this.#file, "utf8")) as Json;
      if (isObject(value)) return value;
      throw new Error("it is no object");
    } catch (cause) {
      const message = `${this.#file} cannot be read: ${asFault(cause).message}. Delete it to see all tools anew.`;
      throw new Fault("BAD_REQUEST", message, { cause });
    }
  }
}
