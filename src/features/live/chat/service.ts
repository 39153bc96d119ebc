import * as log from '../../../events/stream-log.ts';
import type { ClientInfo } from '../../../kernel/client-info.ts';
import { type Clock, dateFromMs, dateFromText } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { AppError, badRequest, notFound, tooManyRequests } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Bus } from '../../../platform/bus.ts';
import { advisoryLock } from '../../../platform/db/advisory-lock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { isInstant } from '../../../platform/schema-validator.ts';
import type { ViewerFingerprints } from '../../audience/viewer-fingerprints/index.ts';
import type { UsageEvents, Viewer } from '../../insight/usage-events/index.ts';
import type { BanRow, MessageRow, SettingsRow } from './repository.ts';
import * as repository from './repository.ts';
import {
  hasBannedWord,
  isSameName,
  mayGuestWrite,
  type RestrictedMode,
  settingsAnnouncements,
  validateText,
} from './rules.ts';

export interface PostInput {
  text: string;
  replyToId?: string | null;
  clientId?: string;
}

/** Author of a post: the account of the stream by a key, or a guest of its page. */
export type MessageAuthor =
  | { kind: 'creator'; accountId: string }
  | { kind: 'guest'; id: string; name: string; entitledModes: readonly RestrictedMode[]; visit: ClientInfo };

/** Creator as shown on messages. */
export interface Creator {
  id: string;
  username: string;
  /** Name shown on pages. */
  displayName: string;
  /** Name of the account; a channel may show a different name. */
  accountName: string | null;
  avatarUrl: string | null;
}

/** Message row with the current data of the creator. */
export interface ChatMessageDetails {
  row: MessageRow;
  creator: Creator;
}

/** First content of a chat page. */
export interface ChatSnapshot {
  /** Newest 50 messages, oldest first. */
  messages: ChatMessageDetails[];
  /** Event ID from which a tail resumes after these messages. */
  eventId: string;
  settings: { chatMode: SettingsRow['chat_mode']; slowModeSec: number };
  creatorName: string;
  /** Time at which the stream was created. */
  createdAt: Date;
  /** True when the stream has a chat, even if it is off. */
  isOpen: boolean;
}

interface Deps {
  db: Db;
  bus: Bus;
  clock: Clock;
  facts: Pick<UsageEvents, 'append'>;
  arrivals: ViewerFingerprints;
  /** Returns the JSON of a message in the log and in responses. */
  toMessage(shown: ChatMessageDetails): object;
  creatorOf(owner: Owner): Promise<Creator>;
}

/** Owner of a stream. */
type Owner = Pick<SettingsRow, 'account_id' | 'workspace_id'>;

/**
 * Chat of streams. A stream of another workspace gets NOT_FOUND; guests belong to none and are admitted by
 * their page.
 */
export interface Chat {
  /**
   * @param workspaceId null for a guest.
   * @throws {AppError} BAD_REQUEST, fields `text` and `replyToId`; CONFLICT when the chat is off; for guests
   * PERMISSION_DENIED when they are banned or the chat is not open to them, and RATE_LIMITED in slow mode.
   */
  post(
    where: { streamId: string; workspaceId: string | null },
    poster: MessageAuthor,
    input: PostInput,
  ): Promise<ChatMessageDetails>;
  /** @throws {AppError} BAD_REQUEST, field `since`. */
  list(
    workspaceId: string,
    streamId: string,
    page: PageRequest,
    since?: string,
  ): Promise<ChatMessageDetails[]>;
  /** Returns the first content for visitors; undefined when the stream does not exist. */
  recent(streamId: string): Promise<ChatSnapshot | undefined>;
  /** @throws {AppError} BAD_REQUEST, field `name`, for one that a guest may not have. */
  refuseName(streamId: string, name: string): Promise<void>;
  remove(workspaceId: string, streamId: string, id: string): Promise<void>;
  /** Removes all messages. @returns the time of the removal. */
  clear(workspaceId: string, streamId: string): Promise<Date>;
  /**
   * Announces changed settings in the chat, in the transaction that changes them and under the lock of the
   * stream.
   */
  announce(tx: Tx, streamId: string, changes: Parameters<typeof settingsAnnouncements>[1]): Promise<void>;
  ban(workspaceId: string, streamId: string, authorId: string, seconds: number | null): Promise<BanRow>;
  bans(workspaceId: string, streamId: string, page: PageRequest): Promise<BanRow[]>;
  unban(workspaceId: string, streamId: string, id: string): Promise<void>;
  /** Deletes messages and bans beyond their retention. */
  forget(): Promise<void>;
}

const DUPLICATE_MS = 60_000;
const RETENTION_MS = 30 * DAY_MS;
const MAX_STORED_MESSAGES = 10_000;
const MAX_BANS = 1000;
const AUTHOR = /^(?:gst|usr)_[0-9a-z]{26}$/;

const place = (streamId: string) => ({ streamId, tail: 'CHAT' as const });

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: an object of short methods around one transaction.
export function createChat(deps: Deps): Chat {
  const { db, bus, clock, creatorOf } = deps;

  /** Runs the work under a shared lock on the stream and then notifies its readers. */
  const changing = async <T>(
    streamId: string,
    workspaceId: string | null,
    work: (tx: Tx, settings: SettingsRow, now: Date) => Promise<T>,
  ): Promise<T> => {
    const result = await db.transaction().execute(async (tx) => {
      const settings = await repository.lockSettings(tx, streamId);
      return work(tx, owned(settings, workspaceId), clock.now());
    });
    bus.publish(log.STREAM_LOG_TOPIC, streamId);
    return result;
  };
  const reading = async (streamId: string, workspaceId: string): Promise<SettingsRow> =>
    owned(await repository.findSettings(db, streamId), workspaceId);

  return {
    async post({ streamId, workspaceId }, poster, input) {
      // Invalid text is rejected first, whatever the state of the chat.
      const reason = validateText(input.text);
      if (reason !== null) throw badRequest('text', reason);
      const found = owned(await repository.findSettings(db, streamId), workspaceId);
      const { account_id: accountId, workspace_id: owner } = found;
      const creator = await creatorOf(found);
      const viewer =
        poster.kind === 'guest' ? await meet(deps, poster.visit, { accountId, workspaceId: owner }) : null;
      return changing(streamId, workspaceId, (tx, settings, now) =>
        postLocked(deps, tx, { settings, creator, poster, viewer, input, now }),
      );
    },
    async list(workspaceId, streamId, page, since) {
      const owner = await reading(streamId, workspaceId);
      const rows = await repository.listMessages(db, streamId, page, parseSince(since));
      const creator = await creatorOf(owner);
      return rows.map((row) => ({ row, creator }));
    },
    recent: (streamId) => recentOf(deps, streamId),
    async refuseName(streamId, name) {
      const settings = owned(await repository.findSettings(db, streamId), null);
      const { displayName, accountName, username } = await creatorOf(settings);
      if ([displayName, accountName ?? '', username].some((own) => isSameName(name, own)))
        throw badRequest('name', 'This name is used by the creator. Choose another.');
      if (hasBannedWord(name, settings.banned_words))
        throw badRequest('name', 'This name is not allowed in this chat.');
    },
    remove: (workspaceId, streamId, id) =>
      changing(streamId, workspaceId, async (tx, _settings, now) => {
        const deleted = await repository.deleteMessage(tx, streamId, id, now);
        if (deleted === undefined) throw notFound();
        await log.redactLogEntries(tx, place(streamId), 'message', { is: deleted.seq });
        const body = { messageId: id, deletedAt: now.toISOString() };
        await log.appendToLog(tx, place(streamId), 'deleted', { body: () => body, at: now });
      }),
    clear: (workspaceId, streamId) =>
      changing(streamId, workspaceId, async (tx, _settings, now) => {
        const body = ({ atMs }: log.LogPosition) => ({ before: dateFromMs(atMs).toISOString() });
        // Appended first: every earlier message has then been committed and is visible.
        const { seq, atMs } = await log.appendToLog(tx, place(streamId), 'cleared', { body, at: now });
        await repository.deleteBefore(tx, streamId, seq);
        await log.redactLogEntries(tx, place(streamId), 'message', { before: seq });
        return dateFromMs(atMs);
      }),
    async announce(tx, streamId, changes) {
      const settings = await repository.lockSettings(tx, streamId);
      if (settings === undefined) return;
      for (const text of settingsAnnouncements(settings, changes)) await say(deps, tx, settings, text);
    },
    ban: (workspaceId, streamId, authorId, seconds) =>
      changing(streamId, workspaceId, async (tx, settings, now) => {
        if (!AUTHOR.test(authorId)) throw badRequest('authorId', 'Author not found.');
        if (authorId === settings.account_id)
          throw badRequest('authorId', 'The creator of the stream cannot be banned.');
        // Serializes concurrent bans, so that the second counts the first.
        await advisoryLock(tx, `chat bans ${streamId}`);
        const known = await repository.findBan(tx, streamId, authorId, now);
        if (known === undefined && (await repository.countBans(tx, streamId, now)) >= MAX_BANS) {
          const message = `Limit of ${MAX_BANS} bans reached for this stream. Remove bans, or give them a duration.`;
          throw new AppError('CONFLICT', { message });
        }
        const expires_at = seconds === null ? null : dateFromMs(now.getTime() + seconds * 1000);
        const ban = { id: newId('ban'), stream_id: streamId, author_id: authorId, created_at: now };
        return repository.upsertBan(tx, { ...ban, expires_at }, known === undefined);
      }),
    async bans(workspaceId, streamId, page) {
      await reading(streamId, workspaceId);
      return repository.listBans(db, streamId, page, clock.now());
    },
    async unban(workspaceId, streamId, id) {
      await reading(streamId, workspaceId);
      if (!(await repository.deleteBan(db, streamId, id, clock.now()))) throw notFound();
    },
    forget: () => {
      const now = clock.now();
      return repository.pruneChat(db, {
        now,
        before: dateFromMs(now.getTime() - RETENTION_MS),
        newest: MAX_STORED_MESSAGES,
      });
    },
  };
}

/** @param workspaceId null when the caller was already admitted. */
function owned(settings: SettingsRow | undefined, workspaceId: string | null): SettingsRow {
  if (settings === undefined) throw notFound();
  if (workspaceId !== null && settings.workspace_id !== workspaceId) throw notFound();
  return settings;
}

const RECENT = 50;
const NEWEST: PageRequest = {
  fetchLimit: RECENT,
  limit: RECENT,
  order: 'desc',
  after: null,
  createdAfter: null,
  createdBefore: null,
};

async function recentOf({ db, creatorOf }: Deps, streamId: string): Promise<ChatSnapshot | undefined> {
  const settings = await repository.findSettings(db, streamId);
  if (settings === undefined) return undefined;
  const { created_at: createdAt, chat_enabled: isOpen } = settings;
  // Read before the messages: entries in between are replayed and recognized by their ID.
  const [head] = await log.latestPositions(db, [place(streamId)]);
  const { seq, atMs } = head?.position ?? { seq: 0, atMs: createdAt.getTime() };
  const creator = await creatorOf(settings);
  const rows = await repository.listMessages(db, streamId, NEWEST, null);
  return {
    messages: rows.toReversed().map((row) => ({ row, creator })),
    eventId: `${atMs}-${seq}`,
    settings: { chatMode: settings.chat_mode, slowModeSec: settings.slow_mode_sec },
    creatorName: creator.displayName,
    createdAt,
    isOpen,
  };
}

/** Empty author of messages by the platform. */
const PLATFORM: Creator = { id: '', username: '', displayName: '', accountName: null, avatarUrl: null };

/** Posts a message of the platform. */
async function say(deps: Deps, tx: Tx, { id }: SettingsRow, text: string): Promise<void> {
  const now = deps.clock.now();
  const nobody = { author_id: null, guest_name: null, reply_to_id: null, client_id: null };
  await writeMessage(deps, tx, { kind: 'SYSTEM', stream_id: id, text, ...nobody, now }, PLATFORM);
}

type NewMessage = Pick<MessageRow, 'kind' | 'stream_id' | 'text' | 'author_id'> &
  Pick<MessageRow, 'guest_name' | 'reply_to_id' | 'client_id'> & { now: Date };

async function writeMessage(
  deps: Deps,
  tx: Tx,
  { now, ...message }: NewMessage,
  creator: Creator,
): Promise<ChatMessageDetails> {
  const row = { id: newId('msg'), ...message, deleted_at: null };
  // The time comes from the log position, so that an earlier message never has a later time when posts wait
  // for each other.
  const placed = ({ seq, atMs }: log.LogPosition) => {
    const at = dateFromMs(atMs);
    return { ...row, seq, at, created_at: at };
  };
  const position = await log.appendToLog(tx, place(row.stream_id), 'message', {
    body: (at) => deps.toMessage({ row: placed(at), creator }),
    at: now,
  });
  await repository.insertMessage(tx, placed(position));
  return { row: placed(position), creator };
}

interface Post {
  settings: SettingsRow;
  creator: Creator;
  poster: MessageAuthor;
  /** Viewer data stored for a guest. */
  viewer: Viewer | null;
  input: PostInput;
  now: Date;
}

async function meet(
  { arrivals, clock }: Deps,
  visit: ClientInfo,
  { accountId, workspaceId }: { accountId: string; workspaceId: string },
): Promise<Viewer> {
  const isSelf = await arrivals.isOwner(visit, accountId);
  return arrivals.viewerOf(arrivals.fingerprint(visit, { workspaceId, isSelf }), clock.now());
}

async function postLocked(deps: Deps, tx: Tx, post: Post): Promise<ChatMessageDetails> {
  const { settings, creator, poster, viewer, input, now } = post;
  const { id: streamId } = settings;
  const { text, replyToId = null, clientId = null } = input;
  const authorId = poster.kind === 'guest' ? poster.id : poster.accountId;
  if (clientId !== null) {
    await advisoryLock(tx, `chat ${streamId} ${authorId} ${clientId}`);
    const since = dateFromMs(now.getTime() - DUPLICATE_MS);
    const first = await repository.findByClient(tx, streamId, { authorId, clientId, since });
    if (first !== undefined) return { row: first, creator };
  }
  if (!settings.chat_enabled || settings.chat_mode === 'OFF')
    throw new AppError('CONFLICT', { message: 'Chat is disabled for this stream.' });
  if (poster.kind === 'guest') await admitGuest(tx, post, poster);
  if (hasBannedWord(text, settings.banned_words))
    throw badRequest('text', 'The message contains a word that is not allowed in this chat.');
  if (replyToId !== null) {
    const parent = await repository.findMessage(tx, streamId, replyToId);
    if (parent === undefined || parent.deleted_at !== null)
      throw badRequest('replyToId', 'The message to reply to was not found.');
  }
  const guest_name = poster.kind === 'guest' ? poster.name : null;
  const message = { text, guest_name, reply_to_id: replyToId, client_id: clientId, now };
  const row = { kind: 'MESSAGE', stream_id: streamId, author_id: authorId, ...message } as const;
  const shown = await writeMessage(deps, tx, row, creator);
  const { workspace_id: workspaceId } = settings;
  await deps.facts.append(tx, [{ kind: 'CHAT', workspaceId, subjectId: streamId, at: now, viewer }]);
  return shown;
}

/** @throws {AppError} when a guest may not post, or must wait. */
async function admitGuest(
  tx: Tx,
  { settings, creator, now }: Post,
  { id: guestId, entitledModes }: { id: string; entitledModes: readonly RestrictedMode[] },
): Promise<void> {
  const { id: streamId, chat_mode: mode, slow_mode_sec: slowSec } = settings;
  if (!mayGuestWrite(mode, entitledModes)) {
    const who = mode === 'FOLLOWERS' ? 'who follow' : 'who are members of';
    throw new AppError('PERMISSION_DENIED', {
      message: `Only people ${who} ${creator.displayName} can post here.`,
    });
  }
  const ban = await repository.findBan(tx, streamId, guestId, now);
  if (ban !== undefined) {
    const until = ban.expires_at === null ? '' : ` until ${ban.expires_at.toISOString()}`;
    throw new AppError('PERMISSION_DENIED', { message: `You are banned from this chat${until}.` });
  }
  if (slowSec === 0) return;
  // Serializes concurrent posts of one guest, so that the second sees the first.
  await advisoryLock(tx, `chat slow ${streamId} ${guestId}`);
  const last = await repository.findLastOf(tx, streamId, guestId);
  const waitMs = last === undefined ? 0 : last.created_at.getTime() + slowSec * 1000 - now.getTime();
  if (waitMs > 0) throw tooManyRequests('RATE_LIMITED', waitMs);
}

const EVENT_ID = /^\d{1,15}-(\d{1,15})$/;

/** Parses an event ID of the tail or an instant. */
function parseSince(since: string | undefined): { seq: number } | { at: Date } | null {
  if (since === undefined) return null;
  const seq = EVENT_ID.exec(since)?.[1];
  if (seq !== undefined) return { seq: Number(seq) };
  if (!isInstant(since)) {
    throw badRequest('since', 'since must be an event ID from this stream or a date-time.');
  }
  return { at: dateFromText(since) };
}
