import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Fault } from "@vidro/core";
import { chainCheck, linkHash, ROOT } from "./hash-chain.ts";
import { postgresAddress, withoutTls, clientConfig } from "./postgres/address.ts";
import { postgresFault, troubleOf, unknownWrite } from "./postgres/fault.ts";
import {
  commitUnknown,
  isBusy,
  isCorrupt,
  isDoubtful,
  isNoDatabase,
  isOfDisk,
  isOutOfSpace,
  storeFault,
} from "./sqlite/fault.ts";

const PATH = join(tmpdir(), "journal.db");
const sqliteError = (errcode: number): Error => Object.assign(new Error("it said so"), { errcode });
const coded = (code: string, message = "it said so."): Error => Object.assign(new Error(message), { code });

void test("each kind of trouble of SQLite has a fault of its own that names the file", () => {
  for (const [code, name] of [
    [5, "STORE_BUSY"],
    [8, "STORE_FAILED"],
    [10, "STORE_FAILED"],
    [11, "JOURNAL_CORRUPT"],
    [13, "STORAGE_FULL"],
    [19, "CONFLICT"],
    [26, "STORE_UNREADABLE"],
    [1, "STORE_UNREADABLE"],
  ] as const) {
    const thrown = sqliteError(code);
    const fault = storeFault(thrown, PATH);
    assert.equal(fault.code, name, String(code));
    assert.ok(fault.message.includes(PATH));
    assert.equal(fault.cause, thrown);
    assert.equal(storeFault(sqliteError(code | (7 << 8)), PATH).code, name, "an extended code is of the same kind");
  }
});

void test("a full disk is known by each of its signs, and a fault stays what it is", () => {
  for (const code of ["ENOSPC", "EDQUOT", "EFBIG"]) {
    assert.equal(storeFault(coded(code), PATH).code, "STORAGE_FULL");
    assert.ok(isOfDisk(coded(code)) && isOutOfSpace(coded(code), PATH));
  }
  assert.equal(isOutOfSpace(coded("EACCES"), PATH), false);
  assert.equal(isOutOfSpace(sqliteError(10), "/no/such/folder/journal.db"), false, "what cannot be measured has room");
  const own = new Fault("NOT_FOUND", "x");
  assert.equal(storeFault(own, PATH), own);
});

void test("what is thrown without a code is unreadable, whatever it is", () => {
  for (const thrown of [undefined, null, "text", 7, {}, new Error("x"), { errcode: "5" }]) {
    assert.equal(storeFault(thrown, PATH).code, "STORE_UNREADABLE");
    assert.ok(![isBusy, isCorrupt, isDoubtful, isNoDatabase, isOfDisk].some((is) => is(thrown)));
  }
});

void test("only a failed sync leaves a commit in doubt", () => {
  for (const [code, doubtful] of [
    [10, true],
    [13, false],
    [5, false],
    [11, false],
  ] as const)
    assert.equal(isDoubtful(sqliteError(code)), doubtful, String(code));
  assert.equal(commitUnknown(sqliteError(10), PATH).code, "COMMIT_UNKNOWN");
});

void test("errors of PostgreSQL are repeated, looked up or final by their code", () => {
  for (const [code, trouble, name] of [
    ["40001", "collided", "STORE_UNREACHABLE"],
    ["40P01", "collided", "STORE_UNREACHABLE"],
    ["ECONNREFUSED", "unreachable", "STORE_UNREACHABLE"],
    ["ENOTFOUND", "unreachable", "STORE_UNREACHABLE"],
    ["57P03", "unreachable", "STORE_UNREACHABLE"],
    ["53300", "unreachable", "STORE_UNREACHABLE"],
    ["25006", "unreachable", "STORE_UNREACHABLE"],
    ["57P01", "doubtful", "STORE_UNREACHABLE"],
    ["08006", "doubtful", "STORE_UNREACHABLE"],
    ["ECONNRESET", "doubtful", "STORE_UNREACHABLE"],
    ["EPIPE", "doubtful", "STORE_UNREACHABLE"],
    ["57014", "final", "STORE_BUSY"],
    ["55P03", "final", "STORE_BUSY"],
    ["53100", "final", "STORAGE_FULL"],
    ["22021", "final", "BAD_REQUEST"],
    ["54000", "final", "BAD_REQUEST"],
    ["42P01", "final", "STORE_UNREADABLE"],
    ["28P01", "final", "STORE_UNREADABLE"],
  ] as const) {
    assert.equal(troubleOf(coded(code)), trouble, code);
    const fault = postgresFault(coded(code), "PostgreSQL h/d");
    assert.equal(fault.code, name, code);
    assert.match(fault.message, /^PostgreSQL h\/d .*it said so\.$/, "one full stop, and the store by name");
  }
});

void test("errors of the client without a code are of the link where they name the connection", () => {
  assert.equal(troubleOf(new Error("Connection terminated unexpectedly")), "doubtful");
  assert.equal(troubleOf(new Error("Query read timeout")), "doubtful");
  for (const thrown of [new Error("a mistake in our own code"), "connection", undefined, null, 7])
    assert.equal(troubleOf(thrown), "final", String(thrown));
});

void test("of a name with several addresses the first failure says what the trouble is", () => {
  const all = new AggregateError([coded("ECONNREFUSED"), coded("ECONNRESET")]);
  assert.equal(troubleOf(all), "unreachable");
  assert.match(postgresFault(all, "PostgreSQL h").message, /ECONNREFUSED/);
  assert.equal(troubleOf(new AggregateError([])), "final");
  assert.equal(unknownWrite(all, "PostgreSQL h").code, "COMMIT_UNKNOWN");
});

void test("an address of PostgreSQL is read into a schema, a name without a login and the words of libpq", () => {
  const address = postgresAddress("postgres://ana:s3cret@db:5433/vidro?schema=team_a");
  assert.deepEqual([address.schema, address.name, address.prefersTls], ["team_a", "PostgreSQL db:5433/vidro", true]);
  const { searchParams } = new URL(address.url);
  assert.deepEqual([searchParams.get("schema"), searchParams.get("sslmode")], [null, "prefer"]);
  assert.equal(new URL(withoutTls(address).url).searchParams.get("sslmode"), "disable");
  assert.equal(withoutTls(address).prefersTls, false);
});

void test("a server that must have TLS and a Unix socket are not asked without it or with it", () => {
  for (const mode of ["require", "verify-ca", "verify-full", "disable"]) {
    const { prefersTls, url } = postgresAddress(`postgres://db/d?sslmode=${mode}`);
    assert.deepEqual([prefersTls, new URL(url).searchParams.get("sslmode")], [false, mode]);
  }
  const local = postgresAddress("postgres:///d?host=/run/postgresql");
  assert.deepEqual([local.prefersTls, local.name], [false, "PostgreSQL /run/postgresql/d"]);
});

void test("a schema that would be more than a name is refused, and the longest name is taken", () => {
  for (const schema of ["", "A", "1a", "a-b", "a b", "a;drop", '"a"', "a".repeat(64), "ação"])
    assert.throws(() => postgresAddress(`postgres://db/d?schema=${encodeURIComponent(schema)}`), {
      code: "BAD_REQUEST",
    });
  assert.equal(postgresAddress(`postgres://db/d?schema=${"a".repeat(63)}`).schema.length, 63);
  assert.throws(() => postgresAddress("db/d"), { code: "BAD_REQUEST", message: /like postgres:/ });
});

void test("options of the operator stay, and the search path of the schema stands behind them", () => {
  const own = postgresAddress("postgres://db/d?options=-c%20work_mem%3D1MB");
  assert.equal(clientConfig(own, "-c x=1").options, "-c work_mem=1MB -c search_path=vidro -c x=1");
  assert.equal(clientConfig(postgresAddress("postgres://db/d")).options, "-c search_path=vidro");
});

/** A chain of entries of a run. */
function chainOf(run: string, bodies: readonly string[]) {
  let previous: string = ROOT.hash;
  return bodies.map((body, index) => {
    const link = { seq: index + 1, at: 1000 + index, body };
    previous = linkHash(run, previous, link);
    return { ...link, hash: previous };
  });
}

void test("a whole chain holds, from its root and from any entry that is known", () => {
  const links = chainOf("run_1", ["a", "b", "c", "d"]);
  const whole = chainCheck("run_1");
  for (const link of links) assert.equal(whole(link), undefined);
  const rest = chainCheck("run_1", links[1]);
  for (const link of links.slice(2)) assert.equal(rest(link), undefined);
});

void test("a changed body, time, place or run breaks the chain where it was changed", () => {
  const links = chainOf("run_1", ["a", "b", "c"]);
  for (const change of [{ body: "B" }, { at: 5 }, { hash: links[2]!.hash }]) {
    const check = chainCheck("run_1");
    assert.equal(check(links[0]!), undefined);
    assert.equal(check({ ...links[1]!, ...change }), "entry 2 is not what was written");
  }
  assert.equal(chainCheck("run_2")(links[0]!), "entry 1 is not what was written");
  const gap = chainCheck("run_1");
  gap(links[0]!);
  assert.equal(gap(links[2]!), "entry 2 is missing; 3 comes next");
});
