import { statfs } from "node:fs/promises";
import os from "node:os";
import { MIB, SAMPLE_LIMITS } from "@vidro/core";
import { readAvailableMemory, readProcessorTimes, type ProcessorTimes } from "../exec/proc.ts";

/** The load of the machine at one moment. */
interface HostSample {
  /** Share of all processors that was busy since the sample before, 0..1. */
  readonly cpu: number;
  /** MiB of memory in use. */
  readonly mem: number;
  /** Load of the last minute. */
  readonly load: number;
  /** MiB in use on the disk of the workspace. */
  readonly disk: number;
  /** Epoch ms. */
  readonly time: number;
}

/** Samples the load of the machine each second and keeps an hour of it in a ring of fixed size. */
export class Sampler {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #ring = {
    cpu: new Float32Array(SAMPLE_LIMITS.kept),
    mem: new Float32Array(SAMPLE_LIMITS.kept),
    load: new Float32Array(SAMPLE_LIMITS.kept),
    disk: new Float64Array(SAMPLE_LIMITS.kept),
    time: new Float64Array(SAMPLE_LIMITS.kept),
  };
  #taken = 0;
  #before: ProcessorTimes = { busy: 0, total: 0 };
  #disk = 0;
  #lookingAtDisk = false;
  #timer: NodeJS.Timeout | undefined;

  /** `folder` is on the disk that is measured. */
  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Takes the first sample, then one each second; the processor share of the first is that since boot. */
  async start(): Promise<this> {
    await this.#lookAtDisk();
    this.sample();
    this.#timer = setInterval(() => this.sample(), SAMPLE_LIMITS.everyMs).unref();
    return this;
  }

  /** Stops sampling; earlier samples stay. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** Takes a sample now. */
  sample(): void {
    const times = readProcessorTimes();
    const total = times.total - this.#before.total;
    const at = this.#taken % SAMPLE_LIMITS.kept;
    const ring = this.#ring;
    ring.cpu[at] = total > 0 ? Math.min(Math.max((times.busy - this.#before.busy) / total, 0), 1) : 0;
    ring.mem[at] = (os.totalmem() - (readAvailableMemory() ?? os.freemem())) / MIB;
    ring.load[at] = os.loadavg()[0] ?? 0;
    ring.disk[at] = this.#disk;
    ring.time[at] = this.#now();
    this.#before = times;
    this.#taken += 1;
    void this.#lookAtDisk();
  }

  /** The newest sample; undefined before the first. */
  latest(): HostSample | undefined {
    return this.#taken === 0 ? undefined : this.#at(this.#taken - 1);
  }

  /** The samples of the last seconds, oldest first. */
  samples(seconds: number): HostSample[] {
    const samples: HostSample[] = [];
    const count = Math.min(seconds, this.#taken, SAMPLE_LIMITS.kept);
    for (let index = this.#taken - count; index < this.#taken; index += 1) samples.push(this.#at(index));
    return samples;
  }

  #at(index: number): HostSample {
    const at = index % SAMPLE_LIMITS.kept;
    const { cpu, mem, load, disk, time } = this.#ring;
    return {
      cpu: roundTo4(cpu[at]),
      mem: Math.round(mem[at] ?? 0),
      load: roundTo4(load[at]),
      disk: Math.round(disk[at] ?? 0),
      time: time[at] ?? 0,
    };
  }

  /** A network disk may not answer: then its last value is kept, and only one request waits. */
  async #lookAtDisk(): Promise<void> {
    if (this.#lookingAtDisk) return;
    this.#lookingAtDisk = true;
    try {
      const { blocks, bfree, bsize } = await statfs(this.#folder);
      this.#disk = ((blocks - bfree) * bsize) / MIB;
    } catch {
      // The folder was removed; the other values are still sampled.
    } finally {
      this.#lookingAtDisk = false;
    }
  }
}

function roundTo4(value: number | undefined): number {
  return Math.round((value ?? 0) * 10_000) / 10_000;
}
