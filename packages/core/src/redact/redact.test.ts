import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { REDACT_LIMITS } from "../limits.ts";
import { redactor } from "./redact.ts";
import { longestShape } from "./shapes.ts";
import { INNOCENT, SHAPED } from "./secrets.fixture.ts";

const KNOWN = 'p/4ss "w?rd\\ é+~zz';
const shapes = redactor([]);

test("a secret of each known shape is replaced and what stands around it stays", () => {
  for (const { text, kept } of SHAPED) assert.equal(shapes.text(text), kept);
});

test("all shapes in one text are replaced", () => {
  const all = SHAPED.map(({ text }) => text).join("\n");
  assert.equal(shapes.text(all), SHAPED.map(({ kept }) => kept).join("\n"));
});

test("redacting twice changes nothing more", () => {
  for (const { kept } of SHAPED) assert.equal(shapes.text(kept), kept);
});

test("what ordinary commands print and people write stays as it is", () => {
  for (const text of INNOCENT) assert.equal(shapes.text(text), text);
});

test("hashes, identifiers and numbers are never taken for secrets", () => {
  const words = fc.array(
    fc.oneof(
      fc.uuid(),
      fc.string({ unit: fc.constantFrom(...Array.from("0123456789abcdef")), minLength: 40 }),
      fc.nat(),
    ),
  );
  fc.assert(
    fc.property(words, (some) => {
      const text = some.join(" ");
      assert.equal(shapes.text(text), text);
    }),
  );
});

test("a key is found behind an escape, a percent code and a colour code", () => {
  const key = `ghp_${"a1B2".repeat(9)}`;
  for (const before of ["\\n", "key%3D", "\u001b[31m", "\u001b[1;31m", '"', "="]) {
    assert.equal(shapes.text(before + key), `${before}[redacted]`);
  }
});

test("a known secret is replaced in every form in which it may be shown", () => {
  const bytes = Buffer.from(KNOWN);
  const forms = [
    KNOWN,
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    bytes.toString("hex").replaceAll(/..(?!$)/g, "$& "),
    bytes.toString("hex").toUpperCase().replaceAll(/../g, "%$&"),
    encodeURIComponent(KNOWN),
    encodeURIComponent(KNOWN).replaceAll("%20", "+"),
    JSON.stringify(KNOWN).slice(1, -1),
    bytes.toString("base64"),
    bytes.toString("base64url"),
  ];
  for (const form of forms) assert.equal(redactor([KNOWN]).text(`<${form}>`), "<[redacted]>");
});

test("a known secret is replaced inside longer base64, whatever stands before it", () => {
  for (const before of ["", "u", "us", "use", "user:"]) {
    const text = Buffer.from(`${before}${KNOWN}, and more`).toString("base64");
    const redacted = redactor([KNOWN]).text(text);
    assert.match(redacted, /^[A-Za-z0-9+/]{0,8}\[redacted\]$/);
  }
});

test("a known secret is replaced as a whole where a shape would end inside it", () => {
  assert.equal(redactor(["hunter2 and more"]).text("password=hunter2 and more!"), "password=[redacted]!");
});

test("a known secret that is longer than the hold-back is replaced as a whole", () => {
  const long = Array.from({ length: 900 }, (_, at) => `${at};`).join("");
  assert.equal(redactor([long]).text(`a${long}b`), "a[redacted]b");
});

test("a secret that is too short to be told from words is not looked for", () => {
  assert.equal(redactor(["", "admin"]).text("the admin is here"), "the admin is here");
});

test("strings under a telling name are replaced, numbers and other names are not", () => {
  const event = {
    usage: { inputTokens: 12_345_678, outputTokens: 2, max_tokens: 4096, tokens: 100_000, token: 123_456_789 },
    input: {
      password: "correct horse",
      apiKey: "abcdef",
      api_key: "abcdef",
      Authorization: "abc def",
      cookies: ["a=b; c=d"],
    },
    env: {
      DB_PASSWD: "swordfish",
      GITHUB_TOKEN: "plain-words",
      PATH: "/usr/bin",
      clientSecret: "abcdef",
      token: "short",
    },
    schema: { token: { type: "string", description: "The token to use." }, private_key: null },
  };
  assert.deepEqual(shapes.value(event), {
    usage: event.usage,
    input: {
      password: "[redacted]",
      apiKey: "[redacted]",
      api_key: "[redacted]",
      Authorization: "[redacted]",
      cookies: ["[redacted]"],
    },
    env: {
      DB_PASSWD: "[redacted]",
      GITHUB_TOKEN: "[redacted]",
      PATH: "/usr/bin",
      clientSecret: "[redacted]",
      token: "short",
    },
    schema: event.schema,
  });
});

test("names in Portuguese and Spanish tell of secrets, too", () => {
  const told = {
    senha: "abcdef",
    contraseña: "abcdef",
    contrasena: "abcdef",
    chave_api: "abcdef",
    clave_de_acceso: "abcdef",
  };
  const plain = { chave: "da porta", enclave: "ceuta-melilla", palavra: "abcdef" };
  const redacted = Object.fromEntries(Object.keys(told).map((name) => [name, "[redacted]"]));
  assert.deepEqual(shapes.value({ ...told, clave: "abcdef", ...plain }), {
    ...redacted,
    clave: "[redacted]",
    ...plain,
  });
});

test("a value is looked through to its keys and leaves, and only what changes is made anew", () => {
  const same = { list: ["quite harmless"] };
  const value = { same, deep: [[{ [KNOWN]: `x${KNOWN}y` }]], none: undefined };
  const redacted = redactor([KNOWN]).value(value);
  assert.deepEqual(redacted, { same, deep: [[{ "[redacted]": "x[redacted]y" }]], none: undefined });
  assert.equal(redacted.same, same);
});

test("a value without secrets is given back as the very same object", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const redacted = redactor([KNOWN]).value(value);
      fc.pre(!JSON.stringify(redacted).includes("[redacted]"));
      assert.equal(redacted, value);
    }),
  );
});

test("what is nested beyond the bound is replaced unseen", () => {
  let value: unknown = "leaf";
  for (let depth = 0; depth < 100_000; depth++) value = [value];
  assert.match(JSON.stringify(shapes.value(value)), /^\[{129}"\[redacted\]"\]{129}$/);
});

test("no shape needs more than the hold-back to be known", () => {
  assert.ok(longestShape() <= REDACT_LIMITS.holdChars, `${longestShape()} characters`);
});

test("a hostile text of a mebibyte costs linear time", () => {
  for (const part of [
    "token",
    "password = ",
    "://a:",
    "eyJ",
    "-----BEGIN ",
    "token=token",
    "bearer a",
    "sk-",
    "a",
    "secret:'a",
    `${"aB3d".repeat(16)}\n`,
    "-----END PRIVATE KEY-----\n",
    "-----END ",
    "password: |\n ",
    "name: token\n value: ",
  ]) {
    const time = (chars: number) => {
      const text = part.repeat(chars / part.length);
      const from = process.cpuUsage();
      shapes.text(text);
      return process.cpuUsage(from).user / 1000;
    };
    time(1 << 14);
    const [once, eightTimes] = [time(1 << 17), time(1 << 20)];
    assert.ok(eightTimes < 50 * once + 50, `${part}: ${once} ms, then ${eightTimes} ms`);
  }
});

test("a text that comes again is given as the first time, also after more texts than are remembered", () => {
  const own = redactor([KNOWN]);
  const text = (from: string): string => own.text(from);
  const clean = "policy.judged by read-files";
  const [secret] = SHAPED.map((shaped) => shaped.text);
  const first = [clean, secret!, KNOWN].map(text);
  for (let count = 0; count <= REDACT_LIMITS.cleanTexts; count++) {
    text(`a text of its own, ${count}`);
    if (count % 100 === 0) assert.deepEqual([clean, secret!, KNOWN].map(text), first);
  }
  assert.deepEqual([clean, secret!, KNOWN].map(text), first);
  assert.equal(first[0], clean);
  assert.ok(!first[1]!.includes(secret!) && !first[2]!.includes(KNOWN));
});
