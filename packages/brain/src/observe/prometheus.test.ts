import assert from "node:assert/strict";
import { test } from "node:test";
import { Histogram, Series } from "./prometheus.ts";

test("a series is known by its labels, whatever stands in them", () => {
  const seen = new Series("counter", { name: "seen_total", help: "What was seen" });
  seen.inc({ what: 'a "quoted"\nline \\ slash' });
  seen.inc({ what: "plain", how: "often" }, 2);
  seen.inc({ what: "plain", how: "often" });
  assert.equal(
    seen.text(),
    [
      "# HELP seen_total What was seen",
      "# TYPE seen_total counter",
      String.raw`seen_total{what="a \"quoted\"\nline \\ slash"} 1`,
      'seen_total{what="plain",how="often"} 3',
      "",
    ].join("\n"),
  );
});

test("a gauge goes up and down", () => {
  const open = new Series("gauge", { name: "open", help: "What is open" });
  open.inc();
  open.inc();
  open.dec();
  assert.match(open.text(), /^open 1$/m);
  open.set(7.5);
  assert.match(open.text(), /^open 7\.5$/m);
});

test("each bound of a histogram counts all that is not above it", () => {
  const took = new Histogram({ name: "took_seconds", help: "How long it took" }, [0.5, 1, 2.5]);
  for (const seconds of [0.25, 0.5, 2, 8]) took.observe(seconds);
  assert.equal(
    took.text(),
    [
      "# HELP took_seconds How long it took",
      "# TYPE took_seconds histogram",
      'took_seconds_bucket{le="0.5"} 2',
      'took_seconds_bucket{le="1"} 2',
      'took_seconds_bucket{le="2.5"} 3',
      'took_seconds_bucket{le="+Inf"} 4',
      "took_seconds_sum 10.75",
      "took_seconds_count 4",
      "",
    ].join("\n"),
  );
});
