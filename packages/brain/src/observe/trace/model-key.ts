import type { ModelCalled } from "@vidro/core";

/** The key of the span of a call of the model. */
export function modelKey({
  step,
  attempt,
  summary,
}: Pick<ModelCalled, "step" | "attempt"> & { summary?: true | undefined }): string {
  return `model:${step}.${attempt}${summary === true ? ".summary" : ""}`;
}
