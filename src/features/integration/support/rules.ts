import type {
  SupportTicketReportedType,
  SupportTicketStatus,
} from '../../../platform/db/tables.generated.ts';

/** All of docs/concepts/support.md#limits. */
export const MAX_SUBJECT = 200;
export const MAX_MESSAGE = 10_000;
/** Maximum messages of one ticket, before the partner has to open another one. */
export const MAX_MESSAGES = 200;
/** Maximum tickets of one account that are not CLOSED. */
export const MAX_OPEN_TICKETS = 25;
/** Time after which a RESOLVED ticket is closed. */
export const RESOLVED_MS = 7 * 86_400_000;

/** Retention of the reporter's email after a report is closed. */
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

/** Returns the state after an action; null when the action is rejected. */
export function nextStatus(status: SupportTicketStatus, deed: TicketAction): SupportTicketStatus | null {
  return NEXT[deed][status];
}

export const MAX_REPORT = 4000;
/** Reasons that the report form offers. */
export const REASONS = [
  'Violence, hate or harassment',
  'Sexual content or child safety',
  'Fraud or spam',
  'Copyright or impersonation',
  'Something else',
] as const;

/** Subject of a report. */
export interface Reported {
  type: SupportTicketReportedType;
  /** ID of the resource; of a channel, the username. */
  id: string;
  /** Path of its page. */
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
