/** Facts about a hand's host and workspace, as the hand finds them; what is absent is not known. */
export interface Surroundings {
  /** Name and version of the system, and its kernel. */
  readonly system?: string;
  /** The shell that runs command lines. */
  readonly shell?: string;
  /** Branch and state of the git repository of the workspace. */
  readonly git?: string;
  /** The project's own words to models. */
  readonly guides?: readonly Guide[];
  /** The project's skills, which a model reads when a task fits one. */
  readonly skills?: readonly SkillFacts[];
  /** The hands, where several are used as one. */
  readonly hands?: readonly HandFacts[];
}

/** A file in which a project says how it is worked on, such as AGENTS.md. */
export interface Guide {
  readonly path: string;
  /** Its beginning. */
  readonly text: string;
}

/** A skill of a project: a folder with a SKILL.md. */
export interface SkillFacts {
  readonly name: string;
  /** When it is of use. */
  readonly description: string;
  /** Path of its SKILL.md below the workspace. */
  readonly path: string;
}

/** One of several hands of a run. */
export interface HandFacts {
  readonly name: string;
  readonly tags: readonly string[];
  readonly workspace: string;
  readonly system?: string;
}

/** Where a run works: the facts that its prompts begin with. */
export interface RunFacts extends Surroundings {
  /** The day on which the run started, as `2026-12-01` (UTC). */
  readonly date: string;
}
