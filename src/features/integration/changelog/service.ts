import type { Events } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { badRequest, notFound } from '../../../kernel/errors.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import {
  type Deprecation,
  isBreaking,
  latestPublished,
  type PublishedRelease,
  publishedReleases,
  type Release,
} from '../../../kernel/release.ts';
import type { Db } from '../../../platform/db/index.ts';
import { listLiveWorkspaces } from '../../../platform/db/workspace.ts';
import type { Logger } from '../../../platform/logger.ts';
import { changelogDeprecationUsed, changelogPublished } from './events.ts';
import * as repository from './repository.ts';
import { type ChangelogFilter, deprecationsOf, instantOf, pageOf } from './rules.ts';

/** A call of a deprecated endpoint by a key. */
export interface DeprecatedCall {
  workspaceId: string;
  /** `GET /things` */
  endpoint: string;
}

/** The releases of the API and the notifications about them (docs/concepts/changelog.md). */
export interface Changelog {
  /** @throws {AppError} BAD_REQUEST, field `since`. */
  list(filter: ChangelogFilter, page: PageRequest): PublishedRelease[];
  latest(): PublishedRelease;
  /** @throws {AppError} NOT_FOUND. */
  get(version: string): PublishedRelease;
  /** Deprecated endpoints with their deprecation, keyed like `GET /things`. */
  deprecations: ReadonlyMap<string, Deprecation>;
  /** Records the known releases. A platform without accounts has no one to notify. */
  see(): Promise<void>;
  /** Notifies every account older than a new release, once, even if the program is killed in between. */
  tell(): Promise<void>;
  /** Keeps a use, once a day; neither waits nor throws. */
  noteUse(use: DeprecatedCall): void;
  /** Tells those whose keys have called deprecated endpoints in the last 30 days, once in 30 days for each. */
  tellUses(): Promise<void>;
}

interface Deps {
  db: Db;
  events: Events;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  releases: readonly Release[];
  accounts: { isEmpty(): Promise<boolean> };
}

/** Accounts notified in one transaction. */
const BATCH = 100;
const USED_MS = 30 * DAY_MS;
/** Workspaces and endpoints that are remembered as noted today. */
const NOTED_MAX = 10_000;

export function createChangelog(deps: Deps): Changelog {
  const { db, clock, releases, accounts } = deps;
  const deprecations = deprecationsOf(releases);
  return {
    deprecations,
    list(filter, page) {
      const rows = pageOf(releases, filter, page);
      if (rows === null) {
        throw badRequest('since', 'since must be a version, such as 1.0.0, or a date, such as 2026-11-01.');
      }
      return rows;
    },
    latest: () => latestPublished(releases),
    get(version) {
      const release = publishedReleases(releases).find((one) => one.version === version);
      if (release === undefined) throw notFound();
      return release;
    },
    async see() {
      const toldAt = (await accounts.isEmpty()) ? clock.now() : null;
      for (const { version } of publishedReleases(releases)) {
        await repository.insertNotice(db, { version, detected_at: clock.now(), notified_at: toldAt });
      }
    },
    async tell() {
      while (await notifyBatch(deps));
    },
    noteUse: createUseNotes(deps),
    async tellUses() {
      while (await notifyUsesBatch(deps, deprecations));
    },
  };
}

/** @returns false when there is nothing left to tell. */
function notifyBatch({ events, clock, releases }: Deps): Promise<boolean> {
  const known = publishedReleases(releases);
  return events.transaction(async (tx, append) => {
    const notice = await repository.lockUnannouncedRelease(
      tx,
      known.map(({ version }) => version),
    );
    const release = known.find(({ version }) => version === notice?.version);
    if (notice === undefined || release === undefined) return false;
    const { version } = release;
    const ids = await listLiveWorkspaces(tx, notice.last_workspace_id, notice.detected_at, BATCH);
    for (const id of ids) {
      await append(changelogPublished, id, { version, breaking: isBreaking(release), sequence: 1 });
    }
    const last = ids.at(-1) ?? notice.last_workspace_id;
    await repository.advanceNotice(tx, version, { last, toldAt: ids.length < BATCH ? clock.now() : null });
    return true;
  });
}

function createUseNotes({ db, clock, log }: Deps): Changelog['noteUse'] {
  let day = 0;
  let noted = new Set<string>();
  return (use) => {
    const today = Math.floor(clock.ms() / DAY_MS);
    if (today !== day || noted.size >= NOTED_MAX) {
      day = today;
      noted = new Set();
    }
    const name = `${use.workspaceId} ${use.endpoint}`;
    if (noted.has(name)) return;
    noted.add(name);
    repository.upsertUse(db, { ...use, at: clock.now() }).catch((error: unknown) => {
      noted.delete(name);
      log.warn({ err: error }, 'a call of a deprecated endpoint could not be stored');
    });
  };
}

/** @returns false when there is nothing left to tell. */
function notifyUsesBatch(
  { events, clock }: Deps,
  deprecations: ReadonlyMap<string, Deprecation>,
): Promise<boolean> {
  return events.transaction(async (tx, append) => {
    const since = dateFromMs(clock.ms() - USED_MS);
    const uses = await repository.lockUsageToNotify(tx, since, BATCH);
    for (const use of uses) {
      const ending = deprecations.get(use.endpoint);
      if (ending !== undefined) {
        await append(changelogDeprecationUsed, use.workspace_id, {
          endpoint: use.endpoint,
          lastUsedAt: use.last_used_at.toISOString(),
          sunsetAt: instantOf(ending.sunset),
          successor: ending.successor,
          sequence: 1,
        });
      }
      await repository.markUsageNotified(tx, use, clock.now());
    }
    return uses.length === BATCH;
  });
}
