import assert from "node:assert/strict";
import { test } from "node:test";
import { asFault } from "./fault.ts";
import { thrownMessage, thrownStack } from "./thrown.ts";

/** Values that code may throw and that resist being shown. */
function oddValues(): readonly unknown[] {
  const { proxy, revoke } = Proxy.revocable(new Error("gone"), {});
  revoke();
  const refuse = (): never => {
    throw new Error("no");
  };
  const own = new Error("own cause");
  own.cause = own;
  const [one, other] = [new Error("one"), new Error("other")];
  [one.cause, other.cause] = [other, one];
  return [
    Object.create(null),
    { toString: refuse },
    { [Symbol.toPrimitive]: refuse },
    proxy,
    Object.defineProperty(new Error("x"), "stack", { get: refuse }),
    Object.defineProperty(new Error("x"), "message", { get: refuse }),
    Object.defineProperty(new Error("x"), "cause", { get: refuse }),
    Object.assign(new Error("x"), { message: { a: 1 }, stack: 5 }),
    Object.assign(new Error("x"), { message: undefined, stack: undefined }),
    own,
    one,
    new Error("deep", { cause: Object.create(null) }),
    undefined,
    null,
    Symbol("s"),
    () => 1,
    5n,
  ];
}

test("every thrown value has a message, a stack and a fault, and none throws again", () => {
  for (const [index, value] of oddValues().entries()) {
    const texts = [thrownMessage(value), thrownStack(value), asFault(value).message];
    assert.ok(
      texts.every((text) => typeof text === "string"),
      `value ${index}`,
    );
    assert.ok(
      texts.every((text) => text.length < 20_000),
      `value ${index}`,
    );
    assert.equal(asFault(value).code, "INTERNAL_ERROR");
  }
});

test("the stacks of an error and its causes are shown in order", () => {
  const root = new Error("root");
  const stack = thrownStack(new Error("top", { cause: new TypeError("middle", { cause: root }) }));
  const places = ["Error: top", "caused by: TypeError: middle", "caused by: Error: root"].map((text) =>
    stack.indexOf(text),
  );
  assert.ok(
    places.every((place, index) => place >= 0 && place > (places[index - 1] ?? -1)),
    stack,
  );
  assert.equal(thrownStack(root), root.stack);
  assert.match(thrownStack(new Error("top", { cause: "text" })), /caused by: text$/);
});

test("a long chain of causes is cut, and says so", () => {
  let error = new Error("0");
  for (let depth = 1; depth < 100; depth++) error = new Error(String(depth), { cause: error });
  const stack = thrownStack(error);
  assert.match(stack, /caused by: further causes$/);
  assert.ok(stack.split("caused by").length < 12);
});

test("what is no error is shown as text", () => {
  assert.equal(thrownMessage("text"), "text");
  assert.equal(thrownMessage(null), "null");
  assert.equal(thrownStack("text"), "text");
  assert.equal(asFault("text").message, "text");
});
