import type { EventCatalogue } from '../../../events/catalogue.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { badRequest, notFound } from '../../../kernel/errors.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { NotificationFilter, NotificationRow, PreferenceRow, Reader } from './repository.ts';
import * as repository from './repository.ts';
import {
  DEFAULT_PREFERENCES,
  effectivePreferences,
  type NotificationPreferences,
  notificationTypes,
  unknownType,
} from './rules.ts';

/**
 * Notifications belong to the account, so both of its modes share them (docs/decisions/tenancy.md). The read
 * state is separate for each member of its team.
 */
export interface Notifications {
  list(reader: Reader, filter: NotificationFilter, page: PageRequest): Promise<NotificationRow[]>;
  /** @throws {AppError} NOT_FOUND. */
  get(reader: Reader, id: string): Promise<NotificationRow>;
  countUnread(reader: Reader): Promise<number>;
  /** Marks a notification as read. Idempotent. @throws {AppError} NOT_FOUND. */
  read(reader: Reader, id: string): Promise<NotificationRow>;
  /** @returns how many were unread. */
  readAll(reader: Reader): Promise<number>;
  /** @throws {AppError} NOT_FOUND. */
  remove(accountId: string, id: string): Promise<void>;
  /** Event types that create notifications, alphabetical. */
  types: readonly string[];
  /** Returns the preferences, with every type. */
  preferences(accountId: string): Promise<NotificationPreferences>;
  /** Replaces the whole choice; types that are absent take their default. @throws {AppError} BAD_REQUEST. */
  setPreferences(accountId: string, choice: NotificationPreferences): Promise<NotificationPreferences>;
  /** Deletes notifications older than 90 days, read or not. */
  cleanUp(): Promise<void>;
}

const RETENTION_MS = 90 * 86_400_000;

interface Deps {
  db: Db;
  clock: Clock;
  catalogue: Pick<EventCatalogue, 'definitions'>;
}

export function createNotifications({ db, clock, catalogue }: Deps): Notifications {
  const types = notificationTypes(catalogue.definitions);
  return {
    types: [...types.keys()],
    list: (reader, filter, page) => repository.listNotifications(db, reader, filter, page),
    async get(reader, id) {
      return found(await repository.findNotification(db, reader, id));
    },
    countUnread: (reader) => repository.countUnread(db, reader),
    async read(reader, id) {
      await repository.markRead(db, reader, id, clock.now());
      return found(await repository.findNotification(db, reader, id));
    },
    readAll: (reader) => repository.markRead(db, reader, null, clock.now()),
    async remove(accountId, id) {
      if (!(await repository.deleteNotification(db, accountId, id))) throw notFound();
    },
    async preferences(accountId) {
      return effectivePreferences(toChoice(await repository.findPreference(db, accountId)), types);
    },
    async setPreferences(accountId, choice) {
      const unknown = unknownType(choice.types, types);
      if (unknown !== null) throw badRequest(`types.${unknown.slice(0, 100)}`, 'Unknown notification type.');
      await repository.putPreference(db, accountId, choice.channels, choice.types);
      return effectivePreferences(choice, types);
    },
    cleanUp: () => repository.deleteNotificationsBefore(db, dateFromMs(clock.ms() - RETENTION_MS)),
  };
}

function found(row: NotificationRow | undefined): NotificationRow {
  if (row === undefined) throw notFound();
  return row;
}

/** Returns the stored preferences of an account, or the defaults. */
export function toChoice(row: PreferenceRow | undefined): NotificationPreferences {
  if (row === undefined) return DEFAULT_PREFERENCES;
  return { channels: { email: row.email, inApp: row.in_app }, types: row.types };
}
