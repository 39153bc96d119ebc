import type {
  SupportTicketReportedType,
  SupportTicketStatus,
} from '../../../platform/db/tables.generated.ts';

/** All of docs/concepts/support.md#limits. */
export const MAX_SUBJECT = 200;
export const MAX_MESSAGE = 10_000;
/** Of one ticket, before the partner has to open another one. */
export const MAX_MESSAGES = 200;
/** Of one account that are not CLOSED. */
export const MAX_OPEN_TICKETS = 25;
/** So long a RESOLVED ticket waits for an objection. */
export const RESOLVED_MS = 7 * 86_400_000;

/** After a report is closed, the address of whoever made it is kept so long. */
export const REPORTER_EMAIL_RETENTION_MS = 90 * 86_400_000;

export const TICKET_ACTIONS = ['PARTNER_REPLIES', 'STAFF_REPLIES', 'RESOLVE', 'CLOSE'] as const;
export type TicketAction = (typeof TICKET_ACTIONS)[number];

/** docs/concepts/support.md#states; null is refused. */
const NEXT: Record<TicketAction, Record<SupportTicketStatus, SupportTicketStatus | null>> = {
  PARTNER_REPLIES: { OPEN: 'OPEN', PENDING: 'OPEN', RESOLVED: 'OPEN', CLOSED: null },
  STAFF_REPLIES: { OPEN: 'PENDING', PENDING: 'PENDING', RESOLVED: 'PENDING', CLOSED: null },
  RESOLVE: { OPEN: 'RESOLVED', PENDING: 'RESOLVED', RESOLVED: 'RESOLVED', CLOSED: null },
  CLOSE: { OPEN: 'CLOSED', PENDING: 'CLOSED', RESOLVED: 'CLOSED', CLOSED: 'CLOSED' },
};

/** Where the deed takes a ticket; null where it is refused. */
export function nextStatus(status: SupportTicketStatus, deed: TicketAction): SupportTicketStatus | null {
  return NEXT[deed][status];
}

export const MAX_REPORT = 4000;
/** What a report says is wrong. */
export const REASONS = [
  'Violence, hate or harassment',
  'Sexual content or child safety',
  'Fraud or spam',
  'Copyright or impersonation',
  'Something else',
] as const;

/** What a report is about. */
export interface Reported {
  type: SupportTicketReportedType;
  /** Of a channel the user name. */
  id: string;
  /** Of its page. */
  path: string;
}

export function reportedPath(type: SupportTicketReportedType, id: string): string {
  return type === 'CHANNEL' ? `/@${id}` : `/watch/${id}`;
}

const ID = '[0-9a-hjkmnp-tv-z]{26}';
const SUBJECTS: readonly [RegExp, SupportTicketReportedType][] = [
  [new RegExp(`^(vid_${ID})$`), 'VIDEO'],
  [new RegExp(`^(str_${ID})$`), 'STREAM'],
  [/^@([a-z0-9._-]{1,64})$/, 'CHANNEL'],
];

/** @returns null for what cannot be reported. */
export function reportedOf(subject: string): Reported | null {
  for (const [pattern, type] of SUBJECTS) {
    const id = pattern.exec(subject)?.[1];
    if (id !== undefined) return { type, id, path: reportedPath(type, id) };
  }
  return null;
}
