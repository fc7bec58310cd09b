import type { Language } from "@vidro/core/text";

/** Something that a task asks for: everything that the built-in model understands. */
export type Want =
  | { readonly kind: "disk"; readonly path?: string }
  | { readonly kind: "memory" }
  | { readonly kind: "cpu" }
  | { readonly kind: "processes"; readonly by: "cpu" | "mem"; readonly name?: string }
  | { readonly kind: "uptime" }
  | { readonly kind: "system" }
  | { readonly kind: "network" }
  | { readonly kind: "ports"; readonly port?: number }
  | { readonly kind: "largest"; readonly path: string }
  | { readonly kind: "find"; readonly pattern: string; readonly path?: string }
  | { readonly kind: "search"; readonly text: string; readonly path?: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "git"; readonly about: GitAspect }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "tests" }
  | { readonly kind: "date" }
  | { readonly kind: "user" }
  | { readonly kind: "sessions" }
  | { readonly kind: "folder" }
  | { readonly kind: "self" };

/** The side of a repository that is asked about. */
export type GitAspect = "status" | "log" | "branch" | "changes";

/** The name of a want. */
export type WantKind = Want["kind"];

/** The want of one kind. */
export type WantOf<K extends WantKind> = Extract<Want, { readonly kind: K }>;

/** What was understood of a task, and in which language to answer; no wants means that it was not understood. */
export interface Understanding {
  readonly language: Language;
  readonly wants: readonly Want[];
  /** How many more were asked for than one task may hold. */
  readonly leftOut: number;
}
