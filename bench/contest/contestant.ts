/** Something that drives agent runs: the model and the tool are the script's, all the rest is its own. */
export interface Contestant {
  /** Drives one run of so many steps to its end; `called` is told each time that its model is called, counting from 1. */
  run(steps: number, called?: (step: number) => void): Promise<void>;
  close(): Promise<void>;
}

/** Gets a contestant ready; its state lies in the folder. */
export type Open = (folder: string) => Promise<Contestant>;

/** How many runs of how many steps are driven at once, and how often that is done. */
export interface Load {
  readonly runs: number;
  readonly steps: number;
  readonly times: number;
}

/** What a load took. */
export interface Took {
  /** Wall time for each step. */
  readonly stepUs: number;
  /** Time of all the process's threads for each step. */
  readonly cpuUs: number;
}

/** Drives a load, and says what it took. */
export async function drive(contestant: Contestant, { runs, steps, times }: Load): Promise<Took> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let time = 0; time < times; time += 1) {
    await Promise.all(Array.from({ length: runs }, () => contestant.run(steps)));
  }
  const wallUs = (performance.now() - start) * 1000;
  const { user, system } = process.cpuUsage(cpu);
  const all = runs * steps * times;
  return { stepUs: wallUs / all, cpuUs: (user + system) / all };
}
