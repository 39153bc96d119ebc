import type { EventCatalogue } from '../../events/catalogue.ts';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { badRequest, notFound } from '../../kernel/errors.ts';
import type { PageRequest } from '../../kernel/page.ts';
import type { Db } from '../../platform/db/index.ts';
import type { NotificationFilter, NotificationRow, PreferenceRow } from './repository.ts';
import * as repository from './repository.ts';
import { type Choice, DEFAULT_CHOICE, effectiveChoice, noticeTypes, unknownType } from './rules.ts';

/** They belong to the account, so both of its modes share them (docs/decisions/tenancy.md). */
export interface Notifications {
  list(accountId: string, filter: NotificationFilter, page: PageRequest): Promise<NotificationRow[]>;
  /** @throws {AppError} NOT_FOUND. */
  get(accountId: string, id: string): Promise<NotificationRow>;
  countUnread(accountId: string): Promise<number>;
  /** Reading again changes nothing. @throws {AppError} NOT_FOUND. */
  read(accountId: string, id: string): Promise<NotificationRow>;
  /** @returns how many were unread. */
  readAll(accountId: string): Promise<number>;
  /** @throws {AppError} NOT_FOUND. */
  remove(accountId: string, id: string): Promise<void>;
  /** The types of events that people are told of, alphabetical. */
  types: readonly string[];
  /** With every type. */
  preferences(accountId: string): Promise<Choice>;
  /** Replaces the whole choice; types that are absent take their default. @throws {AppError} BAD_REQUEST. */
  setPreferences(accountId: string, choice: Choice): Promise<Choice>;
  /** Drops what is older than 90 days, read or not. */
  cleanUp(): Promise<void>;
}

const KEPT_MS = 90 * 86_400_000;

interface Deps {
  db: Db;
  clock: Clock;
  catalogue: Pick<EventCatalogue, 'definitions'>;
}

export function createNotifications({ db, clock, catalogue }: Deps): Notifications {
  const types = noticeTypes(catalogue.definitions);
  return {
    types: [...types.keys()],
    list: (accountId, filter, page) => repository.listNotifications(db, accountId, filter, page),
    async get(accountId, id) {
      return found(await repository.findNotification(db, accountId, id));
    },
    countUnread: (accountId) => repository.countUnread(db, accountId),
    async read(accountId, id) {
      return found(await repository.markRead(db, accountId, id, clock.now()));
    },
    readAll: (accountId) => repository.markAllRead(db, accountId, clock.now()),
    async remove(accountId, id) {
      if (!(await repository.deleteNotification(db, accountId, id))) throw notFound();
    },
    async preferences(accountId) {
      return effectiveChoice(toChoice(await repository.findPreference(db, accountId)), types);
    },
    async setPreferences(accountId, choice) {
      const unknown = unknownType(choice.types, types);
      if (unknown !== null) throw badRequest(`types.${unknown}`, 'No notification has this type.');
      await repository.putPreference(db, accountId, choice.channels, choice.types);
      return effectiveChoice(choice, types);
    },
    cleanUp: () => repository.deleteNotificationsBefore(db, dateFromMs(clock.ms() - KEPT_MS)),
  };
}

function found(row: NotificationRow | undefined): NotificationRow {
  if (row === undefined) throw notFound();
  return row;
}

/** What is stored of an account, or the defaults. */
export function toChoice(row: PreferenceRow | undefined): Choice {
  if (row === undefined) return DEFAULT_CHOICE;
  return { channels: { email: row.email, inApp: row.in_app }, types: row.types };
}
