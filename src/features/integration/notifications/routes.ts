import Type from 'typebox';
import { anyKey, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaTexts, Deleted, IdParams } from '../../../http/schema.ts';
import { type Caller, teamMemberIdOf } from '../../../kernel/access.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import type { Reader } from './repository.ts';
import { Notification, preferenceSchemas, ReadAll, toNotification, UnreadCount } from './schemas.ts';
import type { Notifications } from './service.ts';

const Id = IdParams('ntf', 'notification');

const path = '/notifications';

const filters = {
  unread: Type.Optional(Type.Boolean({ description: 'Omit for both.' })),
  type: CommaTexts('Only notifications of these event types.'),
};

interface Deps {
  notifications: Notifications;
  cursors: CursorCodec;
}

/** Returns the reader: each team member has their own read state; keys share that of the owner. */
function readerOf(caller: Caller): Reader {
  return { accountId: caller.accountId, memberId: teamMemberIdOf(caller) };
}

/** `/notifications` (docs/concepts/notifications.md): of the account, whichever mode the key has. */
export function notificationRoutes(deps: Deps): Route[] {
  return [...listRoutes(deps), ...preferenceRoutes(deps), ...singleRoutes(deps)];
}

function listRoutes({ notifications, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...anyKey,
      operationId: 'notifications.list',
      method: 'GET',
      path,
      summary: 'List notifications',
      description: 'Belongs to the account: live and test keys return the same list.',
      query: listQuery(filters),
      reply: { status: 200, schema: Notification, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `notifications:${caller.accountId}`, query);
        const filter = {
          unread: query.unread,
          types: query.type?.split(',').map((type) => type.trim()) ?? null,
        };
        return list.page(await notifications.list(readerOf(caller), filter, list.request), toNotification);
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'notifications.countUnread',
      skipSuccessLog: true,
      method: 'GET',
      path: `${path}/unread-count`,
      summary: 'Count unread notifications',
      description: 'For the last 90 days.',
      reply: { status: 200, schema: UnreadCount },
      handler: async ({ caller }) => ({ count: await notifications.countUnread(readerOf(caller)) }),
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      selfService: true,
      operationId: 'notifications.readAll',
      method: 'POST',
      path: `${path}/read-all`,
      summary: 'Mark all notifications as read',
      description: '`updated` is the number of notifications marked as read.',
      reply: { status: 200, schema: ReadAll },
      handler: async ({ caller }) => ({ updated: await notifications.readAll(readerOf(caller)) }),
    }),
  ];
}

function preferenceRoutes({ notifications }: Deps): Route[] {
  const { Preferences, PreferencesIn } = preferenceSchemas(notifications.types);
  return [
    defineRoute({
      ...anyKey,
      operationId: 'notifications.getPreferences',
      method: 'GET',
      path: `${path}/preferences`,
      summary: 'Get notification preferences',
      description: 'The defaults for email and in-app notifications, and the types that override them.',
      reply: { status: 200, schema: Preferences },
      handler: ({ caller }) => notifications.preferences(caller.accountId),
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      onlyMode: 'live',
      operationId: 'notifications.putPreferences',
      method: 'PUT',
      path: `${path}/preferences`,
      summary: 'Replace notification preferences',
      description: 'Replaces all preferences. Applies to future notifications.',
      body: PreferencesIn,
      reply: { status: 200, schema: Preferences },
      handler: ({ caller }, { body }) => notifications.setPreferences(caller.accountId, body),
    }),
  ];
}

function singleRoutes({ notifications }: Deps): Route[] {
  return [
    defineRoute({
      ...anyKey,
      operationId: 'notifications.get',
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'Get a notification',
      description: 'Available for 90 days. Does not mark the notification as read.',
      params: Id,
      reply: { status: 200, schema: Notification },
      handler: async ({ caller }, { params }) =>
        toNotification(await notifications.get(readerOf(caller), params.id)),
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      selfService: true,
      operationId: 'notifications.read',
      method: 'POST',
      path: `${path}/{id}/read`,
      summary: 'Mark a notification as read',
      description: 'Idempotent; `readAt` is not changed.',
      params: Id,
      reply: { status: 200, schema: Notification },
      handler: async ({ caller }, { params }) =>
        toNotification(await notifications.read(readerOf(caller), params.id)),
    }),
    defineRoute({
      ...requiresWrite('profile:write'),
      operationId: 'notifications.delete',
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Delete a notification',
      description: 'Deletes it for the whole account. Cannot be undone.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await notifications.remove(caller.accountId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
  ];
}
