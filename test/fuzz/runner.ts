import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';

/** Parses one input. An exception is a bug of the parser: the target catches expected errors. */
export type FuzzTarget = (input: Buffer) => void | Promise<void>;

const TARGETS = new URL('targets/', import.meta.url);
const CORPUS = new URL('../fuzz-corpus/', import.meta.url);
const MAX_INPUT_BYTES = 256 * 1024;
const MAX_CHANGES = 8;
/** Processor time for one input. A linear reader takes milliseconds. */
const MAX_CPU_MS = 1500;
/** Lengths and counts that readers stumble over. */
const NUMBERS = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0xffffff, 0x7fffffff, 0xffffffff];

/** Returns the targets of all modules in `targets/`, by name. */
export async function loadTargets(): Promise<[string, FuzzTarget][]> {
  const files = (await readdir(TARGETS)).filter((name) => name.endsWith('.ts')).sort();
  const modules = await Promise.all(files.map((name) => import(new URL(name, TARGETS).href)));
  return modules.flatMap((module: { targets: Record<string, FuzzTarget> }) => Object.entries(module.targets));
}

/** Returns the stored inputs of a target: `fuzz-corpus/<target>/*.bin`. */
export async function corpusOf(target: string): Promise<Buffer[]> {
  const folder = new URL(`${target}/`, CORPUS);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.bin')).sort();
  return Promise.all(names.map((name) => readFile(new URL(name, folder))));
}

/** Runs one input, and fails with the input when the target throws or takes too long. */
export async function runInput(name: string, target: FuzzTarget, input: Buffer): Promise<void> {
  const before = process.cpuUsage();
  let failure: string | null = null;
  try {
    await target(Buffer.from(input));
  } catch (error) {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1000;
  if (cpuMs > MAX_CPU_MS) failure ??= `took ${Math.round(cpuMs)} ms of processor time`;
  if (failure === null) return;
  assert.fail(`${failure}
Keep the input: echo ${input.toString('base64')} | base64 -d > test/fuzz-corpus/${name}/NAME.bin`);
}

/** Derives inputs from a corpus; the same seed produces the same inputs. */
export class Mutator {
  readonly #corpus: readonly Buffer[];
  #state: number;

  constructor(corpus: readonly Buffer[], seed: number) {
    this.#corpus = corpus;
    this.#state = seed;
  }

  next(): Buffer {
    let input: Buffer = Buffer.from(this.#any(this.#corpus) ?? '');
    for (let changes = 1 + this.#below(MAX_CHANGES); changes > 0; changes -= 1) input = this.#change(input);
    return input.subarray(0, MAX_INPUT_BYTES);
  }

  #change(input: Buffer): Buffer {
    const at = this.#below(input.length + 1);
    const end = Math.min(input.length, at + 1 + this.#below(32));
    const piece = input.subarray(at, end);
    const [before, after] = [input.subarray(0, at), input.subarray(at)];
    switch (this.#below(7)) {
      case 0:
        return this.#flip(input, at);
      case 1:
        return this.#writeNumber(input, at);
      case 2:
        return Buffer.concat([before, input.subarray(end)]);
      case 3:
        return Buffer.concat([before, this.#noise(1 + this.#below(16)), after]);
      case 4:
        return Buffer.concat([before, ...Array.from({ length: 1 + this.#below(64) }, () => piece), after]);
      case 5:
        return Buffer.from(before);
      default: {
        const other = this.#any(this.#corpus) ?? Buffer.alloc(0);
        return Buffer.concat([before, other.subarray(this.#below(other.length + 1))]);
      }
    }
  }

  #flip(input: Buffer, at: number): Buffer {
    if (at < input.length) input[at] = (input[at] ?? 0) ^ (1 << this.#below(8));
    return input;
  }

  #writeNumber(input: Buffer, at: number): Buffer {
    const bytes = Math.min(1 + this.#below(4), input.length - at);
    const number = this.#any(NUMBERS) ?? 0;
    if (bytes > 0) input.writeUIntBE(number % 2 ** (8 * bytes), at, bytes);
    return input;
  }

  #noise(bytes: number): Buffer {
    return Buffer.from(Array.from({ length: bytes }, () => this.#below(256)));
  }

  #any<T>(list: readonly T[]): T | undefined {
    return list[this.#below(list.length)];
  }

  /** Mulberry32. */
  #below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % Math.max(1, limit);
  }
}

/** Calls `read`, which may throw errors of these classes. */
export function allow(errors: readonly (new (...args: never[]) => Error)[], read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!errors.some((one) => error instanceof one)) throw error;
  }
}
