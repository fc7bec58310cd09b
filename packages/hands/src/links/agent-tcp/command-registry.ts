import { Fault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import { createSchemaCompiler, explainMismatch, LENIENT_SCHEMA_OPTIONS } from "@vidro/core/wire/schema-check";
import type { SchemaCompiler, SchemaValidator } from "@vidro/core/wire/schema-check";
import type { TcpCommand, TcpSession } from "./command.ts";

/** Finds the command of a request, and checks its scope and data. */
export class CommandRegistry {
  readonly #compiler: SchemaCompiler;
  readonly #commands: ReadonlyMap<string, TcpCommand>;
  readonly #compiled = new Map<TcpCommand, SchemaValidator>();

  private constructor(commands: readonly TcpCommand[], compiler: SchemaCompiler) {
    this.#commands = new Map(commands.map((command) => [command.act, command]));
    this.#compiler = compiler;
  }

  /** Creates a registry; schemas are compiled on first use. */
  static async of(commands: readonly TcpCommand[]): Promise<CommandRegistry> {
    const { Ajv2020 } = await import("ajv/dist/2020.js");
    return new CommandRegistry(commands, createSchemaCompiler(Ajv2020, LENIENT_SCHEMA_OPTIONS));
  }

  /** Names of the actions that extend the protocol. */
  get extensions(): readonly string[] {
    return [...this.#commands.values()].flatMap(({ act, isExtension }) => (isExtension === true ? [act] : []));
  }

  /** The command of an action for this session: AUTH_REQUIRED, UNKNOWN_TOOL or FORBIDDEN when it has none. */
  find(act: string, session: TcpSession | undefined): TcpCommand {
    const command = this.#commands.get(act);
    // An unauthenticated client must not learn which actions exist.
    if (session === undefined && command?.isOpen !== true) throw new Fault("AUTH_REQUIRED", "Send AUTH first.");
    if (command === undefined) throw new Fault("UNKNOWN_TOOL", `There is no action ${JSON.stringify(act)}.`);
    if (session !== undefined && !isPermitted(command, session))
      throw new Fault("FORBIDDEN", `scope ${command.scope} required`);
    return command;
  }

  /** Checks the data of a request, coercing and completing it in place; throws BAD_REQUEST if it does not fit. */
  check(command: TcpCommand, data: JsonObject): void {
    let validate = this.#compiled.get(command);
    if (validate === undefined) {
      validate = this.#compiler.compile(command.schema);
      this.#compiled.set(command, validate);
    }
    const mismatch = explainMismatch(validate, data, "data");
    if (mismatch !== undefined) throw new Fault("BAD_REQUEST", `${command.act}: ${mismatch}.`);
  }
}

function isPermitted({ scope }: TcpCommand, { scopes }: TcpSession): boolean {
  return scope === undefined || scopes.has(scope) || scopes.has("*");
}
