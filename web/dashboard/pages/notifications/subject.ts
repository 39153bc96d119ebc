import type { Mode } from '../../app/mode.ts';
import type { Shape } from '../../app/shape.ts';

const KINDS = {
  WEBHOOK: 'webhook',
  INTEGRATION_DOMAIN: 'domain',
  VIDEO: 'video',
  API_KEY: 'key',
  TEAM_MEMBER: 'team',
  QUOTA: 'limits',
  ENDPOINT: 'requests',
  BOOKING: 'bookings',
  COHORT: 'cohort',
  PURCHASE: 'sales',
  SUBSCRIPTION: 'members',
  PAYOUT: 'payouts',
  DISCOUNT_CODE: 'codes',
} as const;
type ResourceType = keyof typeof KINDS;

/** Subject of a notification. */
export interface Subject {
  kind: (typeof KINDS)[ResourceType] | 'page';
  /** Its page, below `/dashboard`. */
  to: string;
  mode: Mode;
}

const isKnown = (type: string): type is ResourceType => Object.hasOwn(KINDS, type);

/** @returns null for a subject that has no page. */
export function subjectOf({ resource, actionUrl }: Shape<'Notification'>): Subject | null {
  if (actionUrl === null || !URL.canParse(actionUrl)) return null;
  const { pathname, searchParams } = new URL(actionUrl);
  const [, to] = /^\/dashboard(\/.+)$/.exec(pathname) ?? [];
  if (to === undefined) return null;
  const type = resource?.type ?? '';
  const kind = isKnown(type) ? KINDS[type] : 'page';
  return { kind, to, mode: searchParams.get('mode') === 'test' ? 'test' : 'live' };
}
