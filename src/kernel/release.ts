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

/** A release of the interface. */
export interface Release {
  version: string;
  /** ISO date; null before the release: it is not announced, and no header names it. */
  date: string | null;
  entries: readonly ReleaseEntry[];
}

export interface PublishedRelease extends Release {
  date: string;
}

export function publishedReleases(releases: readonly Release[]): PublishedRelease[] {
  return releases.flatMap(({ date, ...release }) => (date === null ? [] : [{ ...release, date }]));
}

/** The latest that is published. */
export function latestPublished(releases: readonly Release[]): PublishedRelease {
  const latest = publishedReleases(releases).at(-1);
  if (latest === undefined) throw new Error('no release is published');
  return latest;
}

/** Reports whether a client may need changes for the release. */
export function isBreaking({ entries }: Release): boolean {
  return entries.some(({ breaking }) => breaking === true);
}
