import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "@vidro/core";
import * as fc from "fast-check";
import type { ProgressEvent } from "../event.ts";
import { healer } from "../heal.ts";
import { mendInput } from "./mend.ts";
import type { Schema } from "./mend.ts";

const USER: Schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    email: { type: "string" },
    age: { type: "integer" },
    active: { type: "boolean", default: true },
    role: { type: "string", enum: ["Admin", "User"], default: "User" },
    address: { type: "object", properties: { zip_code: { type: "string" }, city: { type: "string" } } },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["name", "email"],
};

test("001-29: a user written in Portuguese, in Spanish or misspelt becomes the user that the schema asks for", () => {
  const wanted = {
    name: "Ana",
    email: "ana@example.org",
    age: 41,
    active: false,
    role: "Admin",
    address: { zip_code: "01310", city: "São Paulo" },
    tags: ["7"],
  };
  const inputs: readonly Json[] = [
    {
      nome: "Ana",
      "e-mail": "ana@example.org",
      idade: "41",
      ativo: "não",
      papel: "admin",
      endereco: { cep: 1310, cidade: "São Paulo" },
      etiquetas: 7,
    },
    {
      nombre: "Ana",
      correo: "ana@example.org",
      edad: " 41 ",
      activo: "false",
      rol: "ADMIN",
      dirección: { codigo_postal: "01310", ciudad: "São Paulo" },
      tags: "7",
    },
    {
      naem: "Ana",
      Email: "ana@example.org",
      AGE: 41,
      activ: 0,
      role: "Admin",
      adress: { zipCode: "01310", City: "São Paulo" },
      tags: ["7"],
    },
  ];
  for (const input of inputs) {
    const { value, changes } = mendInput(input, USER);
    const zip = { ...wanted, address: { ...wanted.address, zip_code: input === inputs[0] ? "1310" : "01310" } };
    assert.deepEqual(value, zip);
    assert.ok(changes.length > 0);
    assert.ok(!JSON.stringify(changes).includes("ana@example.org"));
  }
});

test("defaults fill in what is missing, and nothing that is there is replaced", () => {
  assert.deepEqual(mendInput({ name: "a", email: "b", role: "User" }, USER).value, {
    name: "a",
    email: "b",
    role: "User",
    active: true,
  });
  assert.deepEqual(mendInput({ name: "a", nome: "b", email: "c", active: true, role: "User" }, USER), {
    value: { name: "a", nome: "b", email: "c", active: true, role: "User" },
    changes: [],
  });
});

test("a name that could mean two fields, and two names that claim one field, are left alone", () => {
  const twoMeanings: Schema = { type: "object", properties: { state: {}, status: {} } };
  assert.deepEqual(mendInput({ estado: "SP" }, twoMeanings).changes, []);
  assert.deepEqual(mendInput({ status: 1, estado: "SP" }, twoMeanings).value, { status: 1, state: "SP" });
  const one: Schema = { type: "object", properties: { email: {} } };
  assert.deepEqual(mendInput({ correo: 1, mail: 2 }, one).changes, []);
});

test("values that would lose something are left for validation to refuse", () => {
  for (const age of ["41 years", "4.5", "", "NaN", "1e999", null, {}, "9007199254740993"]) {
    assert.deepEqual(mendInput({ name: "a", email: "b", active: true, role: "User", age }, USER).changes, []);
  }
});

test("an input that fits is left as it is, and mending twice is mending once", () => {
  const input = fc.dictionary(
    fc.constantFrom(
      "name",
      "nome",
      "email",
      "correo",
      "age",
      "idade",
      "active",
      "tags",
      "other",
      "address",
      "constructor",
    ),
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
  );
  fc.assert(
    fc.property(input, (given) => {
      const once = mendInput(given, USER).value;
      assert.deepEqual(mendInput(once, USER), { value: once, changes: [] });
    }),
  );
});

test("001-13, 001-29: a refused input is mended, the operation runs again with it, and the analysis says so", async () => {
  const events: ProgressEvent[] = [];
  const witness = {
    emit: async (event: ProgressEvent) => void events.push(event),
    hide: () => undefined,
    signal: new AbortController().signal,
  };
  const created = await healer().run(
    {
      name: "create_user",
      input: { nome: "Ana", correo: "ana@example.org", idade: "41" },
      schema: USER,
      run({ input }) {
        const isValid = typeof input === "object" && input !== null && "name" in input && "email" in input;
        if (!isValid) throw Object.assign(new Error("name is missing"), { name: "ValidationError" });
        return input;
      },
    },
    witness,
  );
  assert.deepEqual(created, { name: "Ana", email: "ana@example.org", age: 41, active: true, role: "User" });
  assert.deepEqual(events[0], {
    type: "intent_analysis",
    original_intent: "create_user",
    detected_issue: "invalid_schema",
    decision: "apply_semantic_mapping",
    metadata: { cause: "name is missing" },
  });
  const last = events.at(-1);
  assert.ok(last?.type === "healing" && last.severity === "low" && last.action === "fix_schema_validation");
});

test("a value becomes a choice only where case, accents or separators are all that differs", () => {
  const mended = (value: string, ...choices: readonly string[]): unknown =>
    mendInput({ x: value }, { type: "object", properties: { x: { enum: choices } } }).value;
  for (const [value, choices, expected] of [
    ["In Progress", ["in_progress", "done"], "in_progress"],
    ["IN-PROGRESS", ["in_progress", "done"], "in_progress"],
    ["inprogress", ["in_progress", "done"], "in_progress"],
    [" done ", ["in_progress", "done"], "done"],
    ["Épico", ["epico"], "epico"],
    ["a+", ["A+", "B"], "A+"],
  ] as const)
    assert.deepEqual(mended(value, ...choices), { x: expected }, value);
  for (const [value, choices] of [
    ["-", ["+", "active"]],
    ["<", [">", "between"]],
    ["A-", ["A+", "B+"]],
    ["A-", ["A", "B"]],
    ["C#", ["C++", "Java"]],
    ["C", ["C++", "Java"]],
    ["!!!", ["?", "x"]],
    ["", ["-", "x"]],
    ["京都", ["東京", "Osaka"]],
    ["か", ["が", "x"]],
    ["нет", ["да", "x"]],
    ["v10", ["v1.0", "x"]],
    ["1.5", ["15", "x"]],
  ] as const)
    assert.deepEqual(mended(value, ...choices), { x: value }, `${value} is none of ${choices.join(", ")}`);
});

test("names of other scripts are told apart by their letters", () => {
  const schema: Schema = { type: "object", properties: { 数量1: { type: "number" }, цена: { type: "number" } } };
  assert.deepEqual(mendInput({ 価格1: 5, вес: 6 }, schema).value, { 価格1: 5, вес: 6 });
  assert.deepEqual(mendInput({ ЦЕНА: 6 }, schema).value, { цена: 6 });
  const shops: Schema = { type: "object", properties: { 第二支店長: { type: "number" } } };
  assert.deepEqual(mendInput({ 第一支店長: 1 }, shops).value, { 第一支店長: 1 });
});

test("a name with another number is another field, and no slip of the pen", () => {
  const schema: Schema = { type: "object", properties: { address_2: { type: "string" }, sha256: { type: "string" } } };
  assert.deepEqual(mendInput({ address_1: "x", sha512: "y" }, schema).value, { address_1: "x", sha512: "y" });
  assert.deepEqual(mendInput({ adress_2: "x", sha_256: "y" }, schema).value, { address_2: "x", sha256: "y" });
});
