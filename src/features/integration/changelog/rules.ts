import { isIsoDate } from '../../../kernel/iso-date.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import {
  type ChangeType,
  type Deprecation,
  type PublishedRelease,
  publishedReleases,
  type Release,
  type ReleaseEntry,
} from '../../../kernel/release.ts';

export interface ChangelogFilter {
  /** A version: those after it. An ISO day: those from it on. */
  since: string | null;
  types: readonly ChangeType[] | null;
}

/** The ISO instant from which a release is there. */
export const instantOf = (day: string) => `${day}T00:00:00.000Z`;

/**
 * Returns one page of the published releases with the matching entries of each; releases without any are
 * omitted.
 *
 * @returns null when `since` is neither a published version nor a date.
 */
export function pageOf(
  releases: readonly Release[],
  { since, types }: ChangelogFilter,
  page: PageRequest,
): PublishedRelease[] | null {
  const all = publishedReleases(releases);
  const first = since === null ? 0 : firstSince(all, since);
  if (first === null) return null;
  const shown = all
    .slice(first)
    .map((release) => ({ ...release, entries: ofTypes(release.entries, types) }))
    .filter(({ entries }) => entries.length > 0)
    .filter(({ date }) => isWithin(instantOf(date), page));
  const ordered = page.order === 'desc' ? shown.reverse() : shown;
  const behind = ordered.findIndex(({ version }) => version === page.after) + 1;
  return ordered.slice(behind, behind + page.fetchLimit);
}

function firstSince(all: readonly PublishedRelease[], since: string): number | null {
  if (isIsoDate(since)) {
    const found = all.findIndex(({ date }) => date >= since);
    return found < 0 ? all.length : found;
  }
  const found = all.findIndex(({ version }) => version === since);
  return found < 0 ? null : found + 1;
}

function ofTypes(entries: readonly ReleaseEntry[], types: ChangelogFilter['types']): readonly ReleaseEntry[] {
  return types === null ? entries : entries.filter(({ type }) => types.includes(type));
}

function isWithin(at: string, { createdAfter, createdBefore }: PageRequest): boolean {
  const ms = Date.parse(at);
  return (
    (createdAfter === null || ms > Date.parse(createdAfter)) &&
    (createdBefore === null || ms < Date.parse(createdBefore))
  );
}

/** Returns the deprecations of endpoints in the published releases, keyed like `GET /things`. */
export function deprecationsOf(releases: readonly Release[]): ReadonlyMap<string, Deprecation> {
  return new Map(
    publishedReleases(releases).flatMap(({ date: since, entries }) =>
      entries.flatMap(({ endpoints, ending }) =>
        ending === undefined ? [] : endpoints.map((endpoint) => [endpoint, { since, ...ending }] as const),
      ),
    ),
  );
}
