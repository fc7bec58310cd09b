import type { JsonObject } from "../json.ts";
import { HAND_LIMITS, REGISTER_LIMITS, SKILL_LIMITS } from "../limits.ts";

/* JSON Schema of the facts that a hand on another host tells of its host and workspace. They are data for a prompt. */

/** One line without control characters: a line break would be words of the brain's own. */
const line = (maxLength: number): JsonObject => ({
  type: "string",
  minLength: 1,
  maxLength,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
});

/** Schema of the facts; fields that a newer hand adds are left out. */
export const HOST_FACTS_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    system: line(REGISTER_LIMITS.nameChars * 2),
    shell: line(HAND_LIMITS.pathChars),
    git: { type: "string", minLength: 1, maxLength: HAND_LIMITS.gitFactChars },
    guides: {
      type: "array",
      maxItems: HAND_LIMITS.guides,
      items: {
        type: "object",
        required: ["path", "text"],
        additionalProperties: false,
        properties: {
          path: line(HAND_LIMITS.pathChars),
          text: { type: "string", maxLength: 2 * HAND_LIMITS.guideBytes },
        },
      },
    },
    skills: {
      type: "array",
      maxItems: SKILL_LIMITS.skills,
      items: {
        type: "object",
        required: ["name", "description", "path"],
        additionalProperties: false,
        properties: {
          name: line(REGISTER_LIMITS.nameChars),
          description: line(SKILL_LIMITS.descriptionChars),
          path: line(HAND_LIMITS.pathChars),
        },
      },
    },
  },
};

/** The fields of the facts, each of which is left out when it does not fit. */
export const HOST_FACTS = ["system", "shell", "git", "guides", "skills"] as const;
