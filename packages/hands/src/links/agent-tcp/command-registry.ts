import { Fault } from "@vidro/core";
import type { JsonObject } from "@vidro/core";
import type { Ajv, ValidateFunction } from "ajv";
import type { TcpCommand, TcpSession } from "./command.ts";

/** Finds the command of a request, and checks its scope and data. */
export class CommandRegistry {
  readonly #ajv: Ajv;
  readonly #commands: ReadonlyMap<string, TcpCommand>;
  readonly #compiled = new Map<TcpCommand, ValidateFunction>();

  private constructor(commands: readonly TcpCommand[], ajv: Ajv) {
    this.#commands = new Map(commands.map((command) => [command.act, command]));
    this.#ajv = ajv;
  }

  /** Creates a registry; schemas are compiled on first use. */
  static async of(commands: readonly TcpCommand[]): Promise<CommandRegistry> {
    const { Ajv } = await import("ajv");
    const lenient = { coerceTypes: true, useDefaults: true, removeAdditional: true } as const;
    // The schemas are ours and the tests have checked them: compiling the schema of schemas first would cost 20 ms.
    return new CommandRegistry(commands, new Ajv({ ...lenient, meta: false, validateSchema: false }));
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
      validate = this.#ajv.compile(command.schema);
      this.#compiled.set(command, validate);
    }
    if (validate(data)) return;
    const [error] = validate.errors ?? [];
    const where = (error?.instancePath ?? "").slice(1).replaceAll("/", ".") || "data";
    const { allowedValues } = (error?.params ?? {}) as { readonly allowedValues?: readonly string[] };
    const must = allowedValues === undefined ? error?.message : `must be one of ${allowedValues.join(", ")}`;
    throw new Fault("BAD_REQUEST", `${command.act}: ${where} ${must ?? "is wrong"}.`);
  }
}

function isPermitted({ scope }: TcpCommand, { scopes }: TcpSession): boolean {
  return scope === undefined || scopes.has(scope) || scopes.has("*");
}
