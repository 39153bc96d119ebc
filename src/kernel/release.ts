import type { ErrorCode } from './errors.ts';

export const CHANGE_TYPES = ['ADDED', 'CHANGED', 'DEPRECATED', 'REMOVED', 'FIXED', 'SECURITY'] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** One change of the interface, as people read it. */
export interface ReleaseEntry {
  type: ChangeType;
  title: string;
  description: string;
  /** `GET /streams`. Empty where it concerns all of them, or none. */
  endpoints: readonly string[];
  /** A client may have to be changed. */
  breaking?: true;
  /** Outcome of a DEPRECATED entry's endpoints. */
  ending?: DeprecationOutcome;
}

/** Outcome of a deprecated endpoint (docs/decisions/versions.md#deprecation). */
export interface DeprecationOutcome {
  /** An ISO day, at least twelve months after the release. */
  sunset: string;
  /** Path below the base URL of the endpoint to use instead. */
  successor: string | null;
  /** The code of the 410. */
  code: ErrorCode;
}

/** A deprecated endpoint: announced for at least twelve months, 410 from its sunset on. */
export interface Deprecation extends DeprecationOutcome {
  /** The ISO day of the release that announced it. */
  since: string;
}

/** A version of the API. */
export interface ApiVersion {
  version: string;
  /** ISO date of the release; null before it: no header or event names the version. */
  date: string | null;
}

/** Every version of the API, oldest first; its changes are in `features/integration/changelog/releases.ts`. */
export const API_VERSIONS = [
  { version: '1.0.0', date: '2026-11-01' },
] as const satisfies readonly ApiVersion[];

/** A version of the API with its changes. */
export interface Release extends ApiVersion {
  entries: readonly ReleaseEntry[];
}

export type PublishedRelease = Published<Release>;

type Published<T extends ApiVersion> = T & { date: string };

export function publishedReleases<T extends ApiVersion>(releases: readonly T[]): Published<T>[] {
  return releases.filter((release): release is Published<T> => release.date !== null);
}

/** Returns the latest release. */
export function latestPublished<T extends ApiVersion>(releases: readonly T[]): Published<T> {
  const latest = publishedReleases(releases).at(-1);
  if (latest === undefined) throw new Error('no release was found');
  return latest;
}

/** Reports whether a client may need changes for the release. */
export function isBreaking({ entries }: Release): boolean {
  return entries.some(({ breaking }) => breaking === true);
}
