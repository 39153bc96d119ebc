/** The command line was wrong: exit status 2 and the usage. */
export class UsageError extends Error {}

/** Options as `parseArgs` gives them. */
export interface Values {
  [name: string]: string | boolean | string[] | undefined;
}

export function optional(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** @throws {UsageError} naming the option that is missing. */
export function required(values: Values, name: string): string {
  const value = optional(values, name);
  if (value === undefined) throw new UsageError(`--${name} is required`);
  return value;
}
