import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';

const data = namedSchema(
  'SupportEventData',
  Type.Object({
    ticketId: Type.String(),
    number: Type.Integer({ minimum: 1, description: 'Sequential ticket number in the account.' }),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this ticket.' }),
  }),
);
const sample = { ticketId: 'tkt_01kafe3n4pfx2v9yq6m8d7t5zr', number: 12 };

export const supportTicketReplied = defineEvent({
  type: 'support.ticket_replied',
  description: 'The operator replied to a support ticket, which is now PENDING.',
  data,
  sample: { ...sample, sequence: 1 },
  notice: {
    severity: 'INFO',
    words: ({ ticketId: id, number }) => ({
      title: `Support ticket ${number} has a reply`,
      body: `Read it with GET /support/tickets/${id} and reply there.`,
      resource: { type: 'SUPPORT_TICKET', id },
    }),
  },
});

export const supportTicketClosed = defineEvent({
  type: 'support.ticket_closed',
  description: 'A support ticket was closed, by either side or seven days after it was resolved.',
  data,
  sample: { ...sample, sequence: 2 },
});

/** They go to the workspace where the ticket was opened. */
export const supportEvents: EventDefinition[] = [supportTicketReplied, supportTicketClosed];
