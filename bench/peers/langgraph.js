// @ts-nocheck
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { END, MessagesDeltaValue, MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { ANSWER, callAt, inputAt, OUTPUT, TASK, TOOL, wordsAt } from "../contest/script.ts";
import { Database } from "./better-sqlite3.js";

/** The whole conversation in each checkpoint: what one gets without asking. */
export const wholeState = (folder) =>
  graph(folder, { messages: MessagesValue, synchronous: "FULL", durability: "sync" });

/** Only what is new in each checkpoint (beta), as safe as ours. */
export const delta = (folder) =>
  graph(folder, { messages: MessagesDeltaValue, synchronous: "FULL", durability: "sync" });

/** The same as it is shipped: a power cut may lose the last steps, and the checkpoint is written beside the next step. */
export const deltaAsShipped = (folder) =>
  graph(folder, { messages: MessagesDeltaValue, synchronous: "NORMAL", durability: "async" });

async function graph(folder, { messages, synchronous, durability }) {
  const database = new Database(join(folder, "langgraph.db"), synchronous);
  const saver = new SqliteSaver(database);
  let threads = 0;

  const model = async (_state, config) => {
    const { script } = config.configurable;
    script.step += 1;
    script.called?.(script.step);
    if (script.step > script.steps) return { messages: [new AIMessage(ANSWER)] };
    const call = { id: callAt(script.step), name: TOOL.name, args: inputAt(script.step), type: "tool_call" };
    return { messages: [new AIMessage({ content: wordsAt(script.step), tool_calls: [call] })] };
  };
  const tools = async (state) => {
    const [call] = state.messages.at(-1).tool_calls;
    return { messages: [new ToolMessage({ content: OUTPUT, tool_call_id: call.id, name: call.name })] };
  };
  const app = new StateGraph(new StateSchema({ messages }))
    .addNode("model", model)
    .addNode("tools", tools)
    .addEdge(START, "model")
    .addConditionalEdges("model", (state) => (state.messages.at(-1).tool_calls?.length > 0 ? "tools" : END))
    .addEdge("tools", "model")
    .compile({ checkpointer: saver });

  return {
    async run(steps, called) {
      threads += 1;
      const config = {
        configurable: { thread_id: `thread-${threads}`, script: { steps, step: 0, called } },
        recursionLimit: steps * 2 + 10,
        durability,
      };
      const end = await app.invoke({ messages: [new HumanMessage(TASK)] }, config);
      if (end.messages.at(-1).content !== ANSWER) throw new Error("The run did not come to its end.");
    },
    async close() {
      database.close();
    },
  };
}
