/*
 * Metrics in the text format of Prometheus. A counter or a gauge is a name with one series for each set of labels; the
 * labels are formatted when a series is first used, so that printing all series only joins lines.
 */

/** Labels of a series. */
interface Labels {
  readonly [name: string]: string;
}

/** Name and help text of a metric. */
export interface About {
  readonly name: string;
  readonly help: string;
}

/** The media type of the text. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The series of one name: of a counter, which only ever grows, or of a gauge. */
export class Series {
  readonly #about: About;
  readonly #type: "counter" | "gauge";
  readonly #values = new Map<string, number>();

  constructor(type: "counter" | "gauge", about: About) {
    this.#about = about;
    this.#type = type;
  }

  /** Counts up the series with these labels; counting by 0 makes it show. */
  inc(labels?: Labels, by = 1): void {
    const series = labelText(labels);
    this.#values.set(series, (this.#values.get(series) ?? 0) + by);
  }

  /** Counts a gauge down. */
  dec(labels?: Labels): void {
    this.inc(labels, -1);
  }

  /** Puts a gauge at a value. */
  set(value: number, labels?: Labels): void {
    this.#values.set(labelText(labels), value);
  }

  /** All series in the text format. */
  text(): string {
    const lines = Array.from(this.#values, ([labels, value]) => `${this.#about.name}${labels} ${value}\n`);
    return metricHead(this.#type, this.#about) + lines.join("");
  }
}

/** Observations of a histogram under one set of labels. */
interface Observations {
  readonly counts: number[];
  count: number;
  sum: number;
}

/** A histogram: counts of observed values below each bound. */
export class Histogram {
  readonly #about: About;
  readonly #bounds: readonly number[];
  readonly #seen = new Map<string, Observations>();

  /** The bounds are in ascending order. */
  constructor(about: About, bounds: readonly number[]) {
    this.#about = about;
    this.#bounds = bounds;
  }

  /** Adds a value. */
  observe(value: number, labels?: Labels): void {
    const seen = this.#of(labels);
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at !== -1) seen.counts[at]! += 1;
    seen.count += 1;
    seen.sum += value;
  }

  /** Shows the series with these labels before it has any value. */
  show(labels?: Labels): void {
    this.#of(labels);
  }

  #of(labels: Labels | undefined): Observations {
    const series = labelText(labels);
    const known = this.#seen.get(series);
    if (known !== undefined) return known;
    const fresh = { counts: this.#bounds.map(() => 0), count: 0, sum: 0 };
    this.#seen.set(series, fresh);
    return fresh;
  }

  /** The text format; buckets are cumulative. */
  text(): string {
    return metricHead("histogram", this.#about) + Array.from(this.#seen, (one) => this.#textOf(...one)).join("");
  }

  #textOf(labels: string, { counts, count, sum }: Observations): string {
    const { name } = this.#about;
    const among = labels === "" ? "{" : `${labels.slice(0, -1)},`;
    let below = 0;
    const buckets = this.#bounds.map((bound, at) => {
      below += counts[at] ?? 0;
      return `${name}_bucket${among}le="${bound}"} ${below}\n`;
    });
    const rest = `${name}_bucket${among}le="+Inf"} ${count}\n${name}_sum${labels} ${sum}\n${name}_count${labels} ${count}\n`;
    return buckets.join("") + rest;
  }
}

function metricHead(type: string, { name, help }: About): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function labelText(labels: Labels = {}): string {
  let text = "";
  for (const name in labels) text += `${text === "" ? "{" : ","}${name}="${escapeLabel(labels[name] ?? "")}"`;
  return text === "" ? text : `${text}}`;
}

function escapeLabel(value: string): string {
  return /[\\"\n]/.test(value) ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n") : value;
}
