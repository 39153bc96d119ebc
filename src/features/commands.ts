/** Result of a command: for programs (`--json`) and for people. */
export interface Result {
  data: unknown;
  text: string;
  /** Whether the command succeeded but found a problem: it exits with status 1. */
  isBad?: true;
}

/** A command as it is known before anything is built: the usage needs no database. */
export interface CommandDefinition {
  /** `<noun> <verb>`. */
  name: string;
  /** The name, and its options. */
  usage: string;
  /** Options with a text value, in addition to those of every command. */
  options?: readonly string[];
}

/** Implementation of a command. */
export interface CommandRunner {
  command: CommandDefinition;
  run(values: Values): Promise<Result>;
}

/** Invalid command line: exit status 2 and the usage. */
export class UsageError extends Error {}

/** Options as `parseArgs` gives them. */
export interface Values {
  [name: string]: string | boolean | (string | boolean)[] | undefined;
}

export function optional(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns the values of a repeatable option. */
export function several(values: Values, name: string): string[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** @throws {UsageError} naming the option and its allowed values. */
export function oneOf<T extends string>(values: Values, name: string, known: readonly T[]): T | undefined {
  const value = optional(values, name);
  if (value === undefined) return undefined;
  const found = known.find((one) => one === value);
  if (found === undefined) throw new UsageError(`--${name} must be one of ${known.join(', ')}`);
  return found;
}

/** @throws {UsageError} naming the option that is missing. */
export function required(values: Values, name: string): string {
  const value = optional(values, name);
  if (value === undefined) throw new UsageError(`--${name} is required`);
  return value;
}
