import { isDeepStrictEqual } from 'node:util';

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns a copy without the properties that are undefined. */
export function omitUndefined<T extends object>(values: T): Defined<T>;
export function omitUndefined(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Returns a copy with only these properties. */
export function pick<T extends object, K extends keyof T>(values: T, names: readonly K[]): Pick<T, K>;
export function pick(values: Record<string, unknown>, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** Returns each property that differs, with its old and its new value, in the form that events use. */
export function diffFields(before: object, after: object): Record<string, { from: unknown; to: unknown }> {
  const old = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(
    Object.entries(after)
      .filter(([name, to]) => !isDeepStrictEqual(old.get(name), to))
      .map(([name, to]) => [name, { from: old.get(name), to }]),
  );
}
