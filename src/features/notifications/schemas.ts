import Type, { type Static } from 'typebox';
import { Instant, Nullable, NullableObject, OneOf } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { NotificationRow } from './repository.ts';

export const Notification = Type.Object(
  {
    id: Type.String(),
    type: Type.String({ description: 'The type of the event that it tells of.' }),
    title: Type.String(),
    body: Nullable(Type.String()),
    severity: OneOf(VALUES.notification.severity),
    resource: NullableObject(Type.Object({ type: Type.String(), id: Type.String() })),
    actionUrl: Nullable(Type.String()),
    readAt: Nullable(Instant),
    createdAt: Instant,
  },
  { $id: 'Notification' },
);

const Channels = Type.Object({ email: Type.Boolean(), inApp: Type.Boolean() });

/** @param types what people can be told of. */
export function preferenceSchemas(types: readonly string[]) {
  const description = `Of ${types.map((type) => `\`${type}\``).join(', ')}.`;
  const PreferencesIn = Type.Object({
    channels: Channels,
    types: Type.Record(Type.String(), Channels, {
      default: {},
      description: `${description} A type that is absent takes its default.`,
    }),
  });
  const Preferences = Type.Object(
    {
      channels: Type.Object(
        { email: Type.Boolean(), inApp: Type.Boolean() },
        { description: 'A channel that is off is off for every type.' },
      ),
      types: Type.Record(Type.String(), Channels, { description }),
    },
    { $id: 'NotificationPreferences' },
  );
  return { PreferencesIn, Preferences };
}

export const UnreadCount = Type.Object({ count: Type.Integer() });
export const ReadAll = Type.Object({ updated: Type.Integer() });

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
