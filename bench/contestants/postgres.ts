import type { EventType } from "@vidro/core";
import pg from "pg";
import { postgresStore } from "../../packages/brain/src/stores/postgres.ts";
import { startPostgres } from "../../tests/support/postgres-server.ts";
import type { Contestant } from "../contest/contestant.ts";
import { bodies, CLOSING, OPENING, STEP } from "./floor.ts";
import { overJournal } from "./ours.ts";

/* Durable loops on PostgreSQL with its own defaults, on this machine: commits are on disk before they are acknowledged. */

const HASH = "1".repeat(64);
const INSERT = {
  name: "insert",
  text: "INSERT INTO entry SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])",
};

/** The least that a durable loop can cost there: the very bytes that ours writes, in as many statements and commits. */
export async function bare(): Promise<Contestant> {
  const bodyOf = await bodies();
  const server = await startPostgres([]);
  const client = new pg.Client({ connectionString: server.storeUrl("bare").split("?")[0] });
  await client.connect();
  await client.query(
    "CREATE TABLE entry (run bigint, seq bigint, at bigint, body text, hash text, PRIMARY KEY (run, seq))",
  );
  let runs = 0;
  let together: Promise<void> | undefined;
  const write = async (first: number, steps: number, called: (step: number) => void): Promise<void> => {
    await Promise.resolve();
    together = undefined;
    const all = Array.from({ length: runs - first }, (_, index) => first + index);
    let seq = 0;
    const commitAll = async (commits: readonly (readonly EventType[])[]): Promise<void> => {
      for (const types of commits) {
        const rows = all.flatMap((run) => types.map((type, index) => ({ run, seq: seq + index, type })));
        const values = [
          rows.map(({ run }) => run),
          rows.map((row) => row.seq),
          rows.map(() => Date.now()),
          rows.map(({ type }) => bodyOf(type)),
          rows.map(() => HASH),
        ];
        await client.query({ ...INSERT, values });
        seq += types.length;
      }
    };
    await commitAll(OPENING);
    for (let step = 1; step <= steps; step += 1) {
      called(step);
      await commitAll(STEP);
    }
    called(steps + 1);
    await commitAll(CLOSING);
  };
  return {
    run(steps, called = () => undefined) {
      const first = runs;
      runs += 1;
      together ??= write(first, steps, called);
      return together;
    },
    async close() {
      await client.end();
      await server.close();
    },
  };
}

/** Ours. */
export async function durable(): Promise<Contestant> {
  const server = await startPostgres([]);
  const contestant = overJournal((await postgresStore(server.storeUrl("ours"))).journal);
  return {
    ...contestant,
    async close() {
      await contestant.close();
      await server.close();
    },
  };
}
