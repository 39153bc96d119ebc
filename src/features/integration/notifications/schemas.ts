import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, NullableObject, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { NotificationRow } from './repository.ts';

export const Notification = namedSchema(
  'Notification',
  Type.Object({
    id: IdOf('ntf'),
    type: Type.String({ description: 'Type of the event that caused the notification.' }),
    title: Type.String(),
    body: Nullable(Type.String()),
    severity: OneOf(VALUES.notification.severity),
    resource: NullableObject(Type.Object({ type: Type.String(), id: Type.String() })),
    actionUrl: Nullable(Type.String()),
    readAt: Nullable(Instant),
    createdAt: Instant,
  }),
  {
    id: 'ntf_01kafe3n4pfx2v9yq6m8d7t5zr',
    type: 'webhook.failing',
    title: 'Webhook keeps failing',
    body: 'https://receiver.example.com/marquee has not accepted a delivery for a day or more: 20 consecutive failures.',
    severity: 'CRITICAL',
    resource: { type: 'WEBHOOK', id: 'wh_01kafe3n4pfx2v9yq6m8d7t5zr' },
    actionUrl: 'https://video.example.com/dashboard/webhooks/wh_01kafe3n4pfx2v9yq6m8d7t5zr',
    readAt: null,
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);

const Channels = namedSchema(
  'NotificationChannels',
  Type.Object({ email: Type.Boolean(), inApp: Type.Boolean() }),
  { email: true, inApp: true },
);

/** @param types event types that create notifications. */
export function preferenceSchemas(types: readonly string[]) {
  const description = `Of ${types.map((type) => `\`${type}\``).join(', ')}.`;
  const PreferencesIn = namedSchema(
    'NotificationPreferencesSet',
    Type.Object({
      channels: Channels,
      types: Type.Record(Type.String(), Channels, {
        default: {},
        description: `${description} Omitted types use their default.`,
      }),
    }),
    { channels: { email: true, inApp: true }, types: { 'webhook.failing': { email: false, inApp: true } } },
  );
  const Preferences = namedSchema(
    'NotificationPreferences',
    Type.Object({
      channels: Type.Object(
        { email: Type.Boolean(), inApp: Type.Boolean() },
        { description: 'A disabled channel is disabled for every type.' },
      ),
      types: Type.Record(Type.String(), Channels, { description }),
    }),
    { channels: { email: true, inApp: true }, types: { 'webhook.failing': { email: true, inApp: true } } },
  );
  return { PreferencesIn, Preferences };
}

export const UnreadCount = namedSchema('UnreadCount', Type.Object({ count: Type.Integer() }), { count: 3 });
export const ReadAll = namedSchema('ReadAll', Type.Object({ updated: Type.Integer() }), { updated: 3 });

export function toNotification(row: NotificationRow): Static<typeof Notification> {
  const { resource_type: type, resource_id: id } = row;
  return {
    id: row.id,
    type: row.type,
    title: row.title,
    body: row.body,
    severity: row.severity,
    resource: type === null || id === null ? null : { type, id },
    actionUrl: row.action_url,
    readAt: row.read_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  };
}
