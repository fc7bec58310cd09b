import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { SAMPLE_LIMITS } from "@vidro/core";
import { Sampler } from "./sampler.ts";

test("the first sample is there at once, with everything in its range", async (t) => {
  const sampler = await new Sampler(tmpdir()).start();
  t.after(() => sampler.stop());
  const { cpu, mem, load, disk, time } = sampler.latest() ?? assert.fail("There is none.");
  assert.ok(cpu >= 0 && cpu <= 1);
  assert.ok(mem > 1 && disk > 1 && load >= 0);
  assert.ok(Math.abs(Date.now() - time) < 10_000);
});

test("an hour of samples is kept and no more, oldest first", () => {
  let now = 0;
  const sampler = new Sampler(tmpdir(), () => (now += 1000));
  assert.equal(sampler.latest(), undefined);
  assert.deepEqual(sampler.samples(60), []);
  for (let taken = 0; taken < SAMPLE_LIMITS.kept + 10; taken += 1) sampler.sample();
  const all = sampler.samples(SAMPLE_LIMITS.kept * 2);
  assert.equal(all.length, SAMPLE_LIMITS.kept);
  assert.equal(all[0]?.time, 11_000);
  assert.equal(all.at(-1)?.time, now);
  assert.deepEqual(
    sampler.samples(3).map(({ time }) => time),
    [now - 2000, now - 1000, now],
  );
});

test("a busy processor is seen to be busy", async () => {
  const sampler = new Sampler(tmpdir());
  sampler.sample();
  const until = performance.now() + 200;
  while (performance.now() < until);
  sampler.sample();
  assert.ok((sampler.latest()?.cpu ?? 0) > 0.1);
});

test("a folder that is gone does not end the sampling", async (t) => {
  const sampler = await new Sampler("/no/such/folder").start();
  t.after(() => sampler.stop());
  assert.equal(sampler.latest()?.disk, 0);
});
