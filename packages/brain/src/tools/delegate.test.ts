import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { HELPER_LIMITS, RUN_LIMITS } from "@vidro/core";
import type { Delegation, HelperEnd, Json, JsonObject } from "@vidro/core";
import { delegateTool, helperId } from "./delegate.ts";

const USED = { tokens: 3, costUsd: 0.5 };

/** What a delegation came to whose helpers end as said: the text, the data, what was shown and spent. */
async function delegated(input: JsonObject, ends: readonly Partial<HelperEnd>[]) {
  const [shown, spent]: [string[], unknown[]] = [[], []];
  let asked: Delegation | undefined;
  const tool = delegateTool(async (delegation) => {
    asked = delegation;
    delegation.show("run_x: shell");
    return ends.map((end, place): HelperEnd => ({ run: `run_${place}`, status: "finished", used: USED, ...end }));
  });
  const outcome = await tool.run(input, {
    run: "run_parent",
    owner: "ana",
    action: "act_1",
    signal: new AbortController().signal,
    show: (text) => shown.push(text),
    spend: (used) => spent.push(used),
  });
  assert.ok(outcome.kind === "value");
  return { text: outcome.text, data: outcome.data, shown, spent, asked };
}

const noHelpers = delegateTool(() => assert.fail("no helper may be started"));
const TASKS = `tasks is a list of 1 to ${HELPER_LIMITS.atOnce} tasks`;
const TASK = `task is a text of 1 to ${RUN_LIMITS.taskChars} characters`;
const BUDGET = "budget has steps, actions and tokens, each a whole number from 1 on";
const BOTH = "give task and its fields, or tasks; not both";

test("an input that is no delegation is refused with the rule that it breaks", () => {
  const refused: readonly (readonly [Json, string])[] = [
    [{}, TASK],
    [{ task: "" }, TASK],
    [{ task: " \n\t" }, TASK],
    [{ task: 7 }, TASK],
    [{ task: ["one"] }, TASK],
    [{ task: null }, TASK],
    [{ task: "x".repeat(RUN_LIMITS.taskChars + 1) }, TASK],
    [{ task: "one", who: "me" }, "there is no field who; a task takes task, agent, tools and budget"],
    [{ task: "one", agent: "" }, "agent is the name of an agent"],
    [{ task: "one", agent: null }, "agent is the name of an agent"],
    [{ task: "one", tools: "shell" }, "tools is a list of names"],
    [{ task: "one", tools: ["shell", 1] }, "tools is a list of names"],
    [{ task: "one", tools: null }, "tools is a list of names"],
    [{ task: "one", budget: 5 }, BUDGET],
    [{ task: "one", budget: null }, BUDGET],
    [{ task: "one", budget: [3] }, BUDGET],
    [{ task: "one", budget: { steps: 0 } }, BUDGET],
    [{ task: "one", budget: { steps: 1.5 } }, BUDGET],
    [{ task: "one", budget: { tokens: "100" } }, BUDGET],
    [{ task: "one", budget: { tokens: 1e300 } }, BUDGET],
    [{ task: "one", budget: { wallMs: 1 } }, BUDGET],
    [{ task: "one", budget: { costUsd: 1 } }, BUDGET],
    [{ tasks: [] }, TASKS],
    [{ tasks: "one" }, TASKS],
    [{ tasks: null }, TASKS],
    [{ tasks: { task: "one" } }, TASKS],
    [{ tasks: Array.from({ length: HELPER_LIMITS.atOnce + 1 }, () => ({ task: "one" })) }, TASKS],
    [{ tasks: [{ task: "one" }], task: "two" }, BOTH],
    [{ tasks: [{ task: "one" }], budget: { steps: 1 } }, BOTH],
    [{ tasks: [{ task: "one" }, {}] }, TASK],
    [{ tasks: [{ task: "one" }, 7] }, TASK],
    [{ tasks: [{ tasks: [{ task: "one" }] }] }, "there is no field tasks; a task takes task, agent, tools and budget"],
  ];
  for (const [input, rule] of refused) {
    const expected = { code: "BAD_ARGUMENTS", message: `delegate: ${rule}.` };
    assert.throws(() => noHelpers.check(input as JsonObject), expected, JSON.stringify(input).slice(0, 100));
  }
});

test("a list of plain texts is a list of tasks, and each field is passed on as it was given", async () => {
  const { asked } = await delegated({ tasks: ["look", { task: "count", agent: "reader", tools: [] }] }, [{}, {}]);
  assert.deepEqual(asked?.helpers, [
    { task: "look", id: helperId("act_1", 0) },
    { task: "count", agent: "reader", tools: [], id: helperId("act_1", 1) },
  ]);
  const alone = await delegated({ task: "look", budget: { steps: 2, actions: 3, tokens: 4 } }, [{}]);
  assert.deepEqual(alone.asked?.helpers[0]?.budget, { steps: 2, actions: 3, tokens: 4 });
  assert.deepEqual([alone.asked?.run, alone.asked?.action], ["run_parent", "act_1"]);
});

test("whatever is given as input, it is taken or refused as a bad argument, and a plan names one run for each task", () => {
  const input = fc.dictionary(
    fc.constantFrom("task", "tasks", "agent", "tools", "budget", "__proto__", "x"),
    fc.oneof(
      fc.jsonValue(),
      fc.constant("look"),
      fc.array(fc.constantFrom("look", { task: "count" }), { maxLength: 7 }),
    ),
  );
  fc.assert(
    fc.property(input, (given) => {
      const action = { id: "act_7", callId: "c", tool: "delegate", input: given as JsonObject };
      try {
        noHelpers.check(action.input);
      } catch (thrown) {
        return (thrown as { code?: string }).code === "BAD_ARGUMENTS";
      }
      const count = Array.isArray(given["tasks"]) ? given["tasks"].length : 1;
      return new Set(noHelpers.runs!(action)).size === count && count <= HELPER_LIMITS.atOnce;
    }),
    { numRuns: 500 },
  );
});

test("the id of a helper is a uuid of version 8 that follows from its action and its place alone", () => {
  const uuid = /^run_[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  fc.assert(
    fc.property(fc.string(), fc.nat(99), (action, place) => {
      const id = helperId(action, place);
      assert.match(id, uuid);
      assert.equal(helperId(action, place), id);
      assert.notEqual(helperId(action, place + 1), id);
      assert.notEqual(helperId(`${action}x`, place), id);
    }),
  );
});

test("the end of one helper is its words alone; of several each stands below the first line of its task", async () => {
  const one = await delegated({ task: "look" }, [{ result: "nothing there" }]);
  assert.equal(one.text, "nothing there");
  const tasks = [{ task: "look\nclosely" }, { task: "c".repeat(300) }];
  const two = await delegated({ tasks }, [{ result: "a" }, { result: { n: 2 } }]);
  assert.equal(two.text, `[1] look\na\n\n[2] ${"c".repeat(200)}\n{"n":2}`);
});

test("a helper that failed, was stopped, never began or did not do it is told as that, with its run", async () => {
  const words = async (end: Partial<HelperEnd>): Promise<string> => (await delegated({ task: "look" }, [end])).text;
  const fault = { code: "MODEL_REFUSED", message: "no." } as const;
  assert.equal(await words({ status: "failed", fault }), "[helper run_0 failed: MODEL_REFUSED: no.]");
  assert.equal(await words({ status: "unstarted", fault }), "[helper run_0 unstarted: MODEL_REFUSED: no.]");
  assert.equal(await words({ status: "aborted" }), "[helper run_0 was aborted]");
  assert.equal(
    await words({ result: "I could not", unmet: true }),
    "[helper run_0 says that it was not done]\nI could not",
  );
  assert.equal(await words({ result: "" }), "");
  assert.equal(await words({ result: null }), "null");
});

test("a long result is cut with the name of the run that has the whole; one as long as the bound is not", async () => {
  const fits = "r".repeat(HELPER_LIMITS.resultChars);
  assert.equal((await delegated({ task: "look" }, [{ result: fits }])).text, fits);
  const { text, data } = await delegated({ task: "look" }, [{ result: `${fits}!` }]);
  assert.equal(text, `${fits}\n[cut; the whole is the result of run_0]`);
  assert.equal((data as { helpers: { result: string }[] }).helpers[0]?.result, `${fits}!`);
});

test("what all helpers used is spent once, and what they show comes as lines", async () => {
  const { spent, shown } = await delegated({ tasks: ["a", "b"] }, [{}, { used: { tokens: 4, costUsd: 0.25 } }]);
  assert.deepEqual(spent, [{ tokens: 7, costUsd: 0.75 }]);
  assert.deepEqual(shown, ["run_x: shell\n"]);
});
