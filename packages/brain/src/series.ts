/*
 * Numbers in the text format that Prometheus reads. A counter or a gauge is a name with one series for each set of
 * labels; the labels are written out when a series is found, so that telling all of them is joining lines.
 */

/** What tells the series of one name apart. */
export interface Labels {
  readonly [name: string]: string;
}

/** What Prometheus is told of a name besides its numbers. */
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
    const series = labelled(labels);
    this.#values.set(series, (this.#values.get(series) ?? 0) + by);
  }

  /** Counts a gauge down. */
  dec(labels?: Labels): void {
    this.inc(labels, -1);
  }

  /** Puts a gauge at a value. */
  set(value: number, labels?: Labels): void {
    this.#values.set(labelled(labels), value);
  }

  /** All series as Prometheus reads them. */
  text(): string {
    const lines = Array.from(this.#values, ([labels, value]) => `${this.#about.name}${labels} ${value}\n`);
    return heading(this.#type, this.#about) + lines.join("");
  }
}

/** How many of the values that were seen lie below each bound. */
export class Histogram {
  readonly #about: About;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  /** The bounds go up. */
  constructor(about: About, bounds: readonly number[]) {
    this.#about = about;
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  /** Takes in a value. */
  observe(value: number): void {
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at !== -1) this.#counts[at]! += 1;
    this.#count += 1;
    this.#sum += value;
  }

  /** All of it as Prometheus reads it: each bound counts what lies below the lower ones, too. */
  text(): string {
    const { name } = this.#about;
    let below = 0;
    const buckets = this.#bounds.map((bound, at) => {
      below += this.#counts[at] ?? 0;
      return `${name}_bucket{le="${bound}"} ${below}\n`;
    });
    const rest = `${name}_bucket{le="+Inf"} ${this.#count}\n${name}_sum ${this.#sum}\n${name}_count ${this.#count}\n`;
    return heading("histogram", this.#about) + buckets.join("") + rest;
  }
}

function heading(type: string, { name, help }: About): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function labelled(labels: Labels = {}): string {
  let text = "";
  for (const name in labels) text += `${text === "" ? "{" : ","}${name}="${escaped(labels[name] ?? "")}"`;
  return text === "" ? text : `${text}}`;
}

function escaped(value: string): string {
  return /[\\"\n]/.test(value) ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n") : value;
}
