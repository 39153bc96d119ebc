import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { MessageRow, TicketRow } from './repository.ts';
import { MAX_MESSAGE, MAX_SUBJECT } from './rules.ts';

const { category, priority, status } = VALUES.support_ticket;
const Category = namedSchema('SupportCategory', OneOf(category));
const Priority = namedSchema('SupportPriority', OneOf(priority));

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });

export const TicketIn = namedSchema(
  'SupportTicketCreate',
  Type.Object({
    subject: text(MAX_SUBJECT),
    message: text(MAX_MESSAGE),
    category: Type.Optional(OneOf(category, { default: 'OTHER' })),
    priority: Type.Optional(OneOf(priority, { default: 'NORMAL' })),
    requestId: Type.Optional(
      Type.String({
        pattern: '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$',
        description: '`X-SVC-Request-Id` of the response the ticket is about.',
        examples: ['7c0b4f2e-3c1a-4c53-9a55-0c6f7a1c9d11'],
      }),
    ),
  }),
  {
    subject: 'Webhook deliveries are late',
    message: 'Deliveries of stream.live have been ten minutes late since Monday.',
    category: 'TECHNICAL',
    requestId: '7c0b4f2e-3c1a-4c53-9a55-0c6f7a1c9d11',
  },
);
export type TicketIn = Static<typeof TicketIn>;

export const MessageIn = namedSchema('SupportMessageCreate', Type.Object({ message: text(MAX_MESSAGE) }), {
  message: 'It works again, thank you.',
});

export const Message = namedSchema(
  'SupportMessage',
  Type.Object({
    id: IdOf('tkm'),
    author: OneOf(VALUES.support_message.author, { description: 'STAFF is the platform operator.' }),
    message: Type.String(),
    createdAt: Instant,
  }),
  {
    id: 'tkm_01kafe3n4pfx2v9yq6m8d7t5zr',
    author: 'PARTNER',
    message: 'Deliveries of stream.live have been ten minutes late since Monday.',
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);

const members = {
  id: IdOf('tkt'),
  number: Type.Integer({ description: 'Sequential ticket number in the account.' }),
  subject: Type.String(),
  category: Category,
  priority: Priority,
  status: OneOf(status, { description: 'PENDING: awaiting your reply; OPEN: awaiting the operator.' }),
  requestId: Nullable(Type.String()),
  lastMessageAt: Instant,
  createdAt: Instant,
};

const example = {
  id: 'tkt_01kafe3n4pfx2v9yq6m8d7t5zr',
  number: 12,
  subject: 'Webhook deliveries are late',
  category: 'TECHNICAL',
  priority: 'NORMAL',
  status: 'OPEN',
  requestId: '7c0b4f2e-3c1a-4c53-9a55-0c6f7a1c9d11',
  lastMessageAt: '2026-11-20T09:00:00.000Z',
  createdAt: '2026-11-20T09:00:00.000Z',
} as const;

export const Ticket = namedSchema('SupportTicket', Type.Object(members), example);

export const TicketWithMessages = namedSchema(
  'SupportTicketWithMessages',
  Type.Object({ ...members, messages: Type.Array(Message, { description: 'Oldest first.' }) }),
  {
    ...example,
    messages: [
      {
        id: 'tkm_01kafe3n4pfx2v9yq6m8d7t5zr',
        author: 'PARTNER',
        message: 'Deliveries of stream.live have been ten minutes late since Monday.',
        createdAt: '2026-11-20T09:00:00.000Z',
      },
    ],
  },
);

export function toTicket(row: TicketRow): Static<typeof Ticket> {
  return {
    id: row.id,
    number: row.number,
    subject: row.subject,
    category: row.category,
    priority: row.priority,
    status: row.status,
    requestId: row.request_id,
    lastMessageAt: row.last_message_at.toISOString(),
    createdAt: row.created_at.toISOString(),
  };
}

export function toMessage({ id, author, message, created_at }: MessageRow): Static<typeof Message> {
  return { id, author, message, createdAt: created_at.toISOString() };
}

export function toTicketWithMessages(
  ticket: TicketRow,
  messages: readonly MessageRow[],
): Static<typeof TicketWithMessages> {
  return { ...toTicket(ticket), messages: messages.map(toMessage) };
}
