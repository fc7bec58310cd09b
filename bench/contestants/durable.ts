import type { Entrant } from "../contest/rounds.ts";

const POWER = "power loss";

/** The bare loop that the others are held against. */
export const FLOOR: Entrant = {
  name: "floor: bare node:sqlite, WAL FULL, same commits and bytes",
  module: "contestants/floor.ts",
  open: "floor",
  survives: POWER,
};

/** Ours. */
export const VIDRO: Entrant = {
  name: "Vidro",
  module: "contestants/ours.ts",
  open: "durable",
  survives: `${POWER}; intent and outcome of every effect, hash chain; no effect is done twice`,
};

/** LangGraph.js with what it does unless told otherwise. */
export const LANGGRAPH_WHOLE: Entrant = {
  name: "LangGraph.js + SqliteSaver, default channel",
  module: "peers/langgraph.js",
  open: "wholeState",
  mostSteps: 700,
  survives: `${POWER} (FULL, \`durability: "sync"\`); a node that was cut off runs again`,
};

/** LangGraph.js with its best channel. */
export const LANGGRAPH_DELTA: Entrant = {
  name: "LangGraph.js + SqliteSaver, `MessagesDeltaValue`",
  module: "peers/langgraph.js",
  open: "delta",
  survives: LANGGRAPH_WHOLE.survives ?? "",
};

/** The same with less safety. */
export const LANGGRAPH_SHIPPED: Entrant = {
  name: "the same as shipped (NORMAL, `async`)",
  module: "peers/langgraph.js",
  open: "deltaAsShipped",
  survives: "process crash, but for the last checkpoint; power loss may lose more",
};

/** DBOS. */
export const DBOS: Entrant = {
  name: "DBOS + PostgreSQL",
  module: "peers/dbos.js",
  open: "durable",
  survives: `${POWER}; outcomes only: a step that was cut off runs again`,
};

/** Restate. */
export const RESTATE: Entrant = {
  name: "Restate server + SDK",
  module: "peers/restate.js",
  open: "durable",
  survives: `${POWER} (its default: log synced); outcomes only: a \`run\` that was cut off runs again`,
};

/** pi. */
export const PI: Entrant = {
  name: "pi agent loop + SQLite session",
  module: "peers/pi.js",
  open: "durable",
  mostSteps: 1000,
  survives: `${POWER} (WAL FULL); messages only`,
};
