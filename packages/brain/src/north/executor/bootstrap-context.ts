import { isObject, outcomeText } from "@vidro/core";
import type { JsonObject, Outcome } from "@vidro/core";
import type { Look } from "@vidro/core/run";

/** The context that the bootstrap found, as it is sent to the executor [004-10]. */
interface BootstrapContext {
  readonly working_directory: string;
  readonly files: readonly string[];
  readonly plan?: string;
  readonly git_log?: string;
}

/** The context, made of the outcomes of the looks [004-09]. */
export function bootstrapContext(outcomes: ReadonlyMap<Look, Outcome>): BootstrapContext {
  const text = (look: Look): string | undefined => {
    const outcome = outcomes.get(look);
    return outcome === undefined ? undefined : outcomeText(outcome);
  };
  const [plan, history] = [text("bootstrap-plan"), text("bootstrap-history")];
  return {
    working_directory: directoryOf(outcomes.get("bootstrap-where")),
    files: filesOf(outcomes.get("bootstrap-files")),
    ...(plan === undefined ? {} : { plan }),
    ...(history === undefined ? {} : { git_log: history }),
  };
}

function directoryOf(outcome: Outcome | undefined): string {
  const { path } = dataOf(outcome);
  return typeof path === "string" ? path : outcome === undefined ? "" : outcomeText(outcome).trim();
}

/** The names in a listing: from its data, or from its lines when it has none. */
function filesOf(outcome: Outcome | undefined): readonly string[] {
  if (outcome === undefined) return [];
  const data = outcome.kind === "value" ? outcome.data : undefined;
  const rows = Array.isArray(data) ? data : (dataOf(outcome)["entries"] ?? dataOf(outcome)["files"]);
  if (!Array.isArray(rows))
    return outcomeText(outcome)
      .split("\n")
      .filter((line) => line.trim() !== "");
  return rows.flatMap((row: unknown) => {
    const name = isObject(row) ? row["name"] : row;
    return typeof name === "string" ? [name] : [];
  });
}

function dataOf(outcome: Outcome | undefined): JsonObject {
  return outcome?.kind === "value" && isObject(outcome.data) ? outcome.data : {};
}
