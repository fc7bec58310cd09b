import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry, RunHead } from "@vidro/core";
import { Tokens } from "../auth/tokens.ts";
import { serveHttp } from "../http/server.ts";
import type { QuestionAnswer } from "../run/person-answer.ts";
import { openStore } from "../stores/stores.ts";
import { answerLinksSurface } from "./answer-links.ts";

const HEAD: RunHead = {
  id: "run_1",
  owner: "ada",
  thread: "t",
  task: "reload",
  status: "asking",
  seq: 2,
  startedAt: 1,
  updatedAt: 2,
};

/** The last entries of a run that asks about the plan with that hash. */
function entriesAsking(question: string, hash: string): readonly Entry[] {
  const about = { kind: "approval", action: "act_1", hash } as const;
  const asked = { type: "question.asked", id: question, text: "May this be done?", options: ["yes", "no"] } as const;
  return [{ seq: 2, at: 5, event: { ...asked, about, language: "en", expiresAt: 9 } }] as unknown as readonly Entry[];
}

/** A server with links to the question of one run, and tokens of ada's. */
class LinkStage implements AsyncDisposable {
  entries = entriesAsking("q1", "h1");
  readonly answers: QuestionAnswer[] = [];
  url = "";
  tokens!: Tokens;
  #close: () => Promise<void> = async () => undefined;

  static async set(answerLinks?: boolean): Promise<LinkStage> {
    const stage = new LinkStage();
    const store = await openStore("memory", "");
    const tokens = (stage.tokens = new Tokens(store.records));
    const runs = {
      find: async () => HEAD,
      read: async () => stage.entries,
      answer: async (_run: string, answer: QuestionAnswer) => void stage.answers.push(answer),
    };
    const setting = answerLinks === undefined ? {} : { answerLinks };
    const server = await serveHttp({
      surfaces: [answerLinksSurface({ runs, tokens, ...setting })],
      tokens,
      records: store.records,
      host: "127.0.0.1",
      port: 0,
      production: false,
      log: () => undefined,
    });
    stage.url = server.url;
    stage.#close = async () => {
      await server.close();
      tokens.close();
      await store.close();
    };
    return stage;
  }

  async call(
    path: string,
    body: object,
    token?: string,
  ): Promise<{ status: number; said: { [name: string]: unknown } }> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { "content-type": "application/json", ...authorization };
    const answer = await fetch(this.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: answer.status, said: (await answer.json()) as { [name: string]: unknown } };
  }

  /** The code of a new link. */
  async link(token: string): Promise<string> {
    const { status, said } = await this.call("/v1/runs/run_1/answer-links", {}, token);
    assert.equal(status, 201);
    return String(said["path"]).replace("/answer#code=", "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

const APPROVER = { owner: "ada", scopes: ["runs", "approve"] };

test("links that answer a question are off unless the brain's settings allow them", async () => {
  await using stage = await LinkStage.set();
  const { token } = await stage.tokens.create(APPROVER);
  const { status, said } = await stage.call("/v1/runs/run_1/answer-links", {}, token);
  assert.equal(status, 403);
  assert.match(String(said["error"]), /answer_links/);
});

test("a link shows its plan as often as it is opened and answers it once, in the name of who made it", async () => {
  await using stage = await LinkStage.set(true);
  const { token } = await stage.tokens.create(APPROVER);
  const code = await stage.link(token);
  for (let turn = 0; turn < 2; turn += 1) {
    const { said } = await stage.call("/answer/question", { code });
    assert.deepEqual([said["task"], (said["question"] as { id: string }).id], ["reload", "q1"]);
  }
  assert.equal((await stage.call("/answer", { code, answer: "yes for this run" })).status, 422);
  const both = await Promise.all(["yes", "no"].map((answer) => stage.call("/answer", { code, answer })));
  assert.deepEqual(
    both.map(({ status }) => status).sort((a, b) => a - b),
    [200, 401],
  );
  assert.deepEqual(
    stage.answers.map(({ by, question }) => [by, question]),
    [["ada by a link", "q1"]],
  );
});

test("a link counts for no other plan, and not after the token of its maker is revoked or without the right", async () => {
  await using stage = await LinkStage.set(true);
  const plain = await stage.tokens.create({ owner: "ada", scopes: ["runs"] });
  assert.equal((await stage.call("/v1/runs/run_1/answer-links", {}, plain.token)).status, 403);
  const { token, token_id: id } = await stage.tokens
    .create(APPROVER)
    .then((made) => ({ ...made, token_id: made.token.split(".")[0] ?? "" }));
  const code = await stage.link(token);
  for (const entries of [entriesAsking("q1", "h2"), entriesAsking("q2", "h1"), []]) {
    stage.entries = entries;
    assert.equal((await stage.call("/answer/question", { code })).status, 409);
  }
  stage.entries = entriesAsking("q1", "h1");
  await stage.tokens.revoke(id);
  assert.equal((await stage.call("/answer", { code, answer: "yes" })).status, 401);
  assert.deepEqual(stage.answers, []);
});
