import type { EventDefinition, NoticeText, Severity } from '../../../events/catalogue.ts';
import type { Mode } from '../../../kernel/access.ts';

/** Channels by their name in preferences. */
export interface Channels {
  email: boolean;
  inApp: boolean;
}

/** Event types that create notifications, alphabetical, with their severity. */
export type NotificationTypes = ReadonlyMap<string, Severity>;

export function notificationTypes(definitions: readonly EventDefinition[]): NotificationTypes {
  return new Map(
    definitions
      .flatMap(({ type, notice }) => (notice === undefined ? [] : [[type, notice.severity] as const]))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Returns the default channels: in-app for all, email for critical ones. */
function defaultsOf(severity: Severity): Channels {
  return { email: severity === 'CRITICAL', inApp: true };
}

/** Preferences of an account; `types` holds only types that it has set. */
export interface NotificationPreferences {
  channels: Channels;
  types: Readonly<Record<string, Channels>>;
}

export const DEFAULT_PREFERENCES: NotificationPreferences = {
  channels: { email: true, inApp: true },
  types: {},
};

/** The choice with every type in it: a new type shows its default. */
export function effectivePreferences(
  { channels, types }: NotificationPreferences,
  all: NotificationTypes,
): NotificationPreferences {
  const effective = [...all].map(([type, severity]) => [type, types[type] ?? defaultsOf(severity)] as const);
  return { channels, types: Object.fromEntries(effective) };
}

/** @returns the first member of `types` that is no type of ours, or null. */
export function unknownType(types: Readonly<Record<string, unknown>>, all: NotificationTypes): string | null {
  return Object.keys(types).find((type) => !all.has(type)) ?? null;
}

/** Over which channels a type goes: a channel that is off is off for every type. */
export function channelsFor(
  type: string,
  severity: Severity,
  { channels, types }: NotificationPreferences,
): Channels {
  const own = types[type] ?? defaultsOf(severity);
  return { email: channels.email && own.email, inApp: channels.inApp && own.inApp };
}

/** Dashboard pages of resources, relative to `/dashboard`, by resource type. */
const PAGES: Readonly<Record<string, (id: string) => string>> = {
  WEBHOOK: (id) => `/webhooks/${id}`,
  INTEGRATION_DOMAIN: () => '/domains',
  VIDEO: (id) => `/videos/${id}`,
  API_KEY: () => '/keys',
  TEAM_MEMBER: () => '/team',
  QUOTA: () => '/limits',
  ENDPOINT: () => '/requests',
  STREAM: (id) => `/live/${id}`,
  CHANNEL: () => '/channel',
  RESTREAM: () => '/live',
  BRIDGE: () => '/live',
  BOOKING: () => '/booking',
  COHORT: (id) => `/booking/cohorts/${id}`,
  PURCHASE: () => '/monetization/sales',
  SUBSCRIPTION: () => '/monetization/members',
  PAYOUT: () => '/monetization/payouts',
  DISCOUNT_CODE: () => '/monetization/codes',
};

/** @returns the URL of the resource's page, in its mode; null when it has none. */
export function actionUrlOf(
  publicUrl: string,
  { type, id }: NoticeText['resource'],
  mode: Mode,
): string | null {
  const page = PAGES[type];
  if (page === undefined) return null;
  return `${publicUrl}/dashboard${page(encodeURIComponent(id))}${mode === 'test' ? '?mode=test' : ''}`;
}
