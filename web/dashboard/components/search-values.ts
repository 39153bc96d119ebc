/** Search parameters of a URL; unknown values are ignored. */
export type Search = Record<string, unknown>;

/** Reads a text parameter of the URL. */
export function searchText<Name extends string>(name: Name, search: Search): { [name in Name]?: string };
export function searchText(name: string, search: Search): Record<string, string> {
  const value = search[name];
  return typeof value === 'string' && value !== '' ? { [name]: value } : {};
}

/** One of a few values. */
export function searchOne<Name extends string, Value extends string | number>(
  name: Name,
  values: readonly Value[],
  search: Search,
): { [name in Name]?: Value };
export function searchOne(
  name: string,
  values: readonly (string | number)[],
  search: Search,
): Record<string, string | number> {
  const value = values.find((known) => known === search[name]);
  return value === undefined ? {} : { [name]: value };
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** Days of the browser's zone, `2026-11-20`; both ends are part of it. */
export interface PeriodSearch {
  from?: string;
  to?: string;
}

export function periodSearch(search: Search): PeriodSearch {
  const { from, to } = { ...searchText('from', search), ...searchText('to', search) };
  return {
    ...(from !== undefined && DAY.test(from) ? { from } : {}),
    ...(to !== undefined && DAY.test(to) ? { to } : {}),
  };
}

/** Removes undefined values, so that the URL contains only the necessary parameters. */
export function withoutUndefined<T extends object>(
  search: T,
): { [Key in keyof T]?: Exclude<T[Key], undefined> };
export function withoutUndefined(search: object): object {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
}
