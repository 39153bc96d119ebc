import { requiresGate } from '../../../http/access.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { IdParams } from '../../../http/schema.ts';
import { notFound } from '../../../kernel/errors.ts';
import { Mail, MailWithText, toMail } from './schemas.ts';
import type { Mailbox } from './service.ts';

const path = '/admin/mails';
const NEWEST = 100;

interface Deps {
  mailbox: Pick<Mailbox, 'list' | 'get'>;
  /** A mail server takes the mails: there is no development mailbox. */
  isSent: boolean;
}

/** `/admin/mails` (docs/guides/dashboard.md#development-mailbox). */
export function mailRoutes({ mailbox, isSent }: Deps): Route[] {
  const assertKept = () => {
    if (isSent) throw notFound();
  };
  return [
    defineRoute({
      ...requiresGate('admin'),
      operationId: 'mails.list',
      method: 'GET',
      path,
      summary: 'List development mailbox emails',
      description: 'The 100 most recent emails. Returns 404 when `SMTP_URL` is set.',
      reply: { status: 200, schema: Mail, list: true },
      errors: ['NOT_FOUND'],
      async handler() {
        assertKept();
        return { items: (await mailbox.list()).map(toMail), nextCursor: null, limit: NEWEST };
      },
    }),
    defineRoute({
      ...requiresGate('admin'),
      operationId: 'mails.get',
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'Get a development mailbox email',
      description: "Includes the email's text and links. Returns 404 when `SMTP_URL` is set.",
      params: IdParams('mail', 'email'),
      reply: { status: 200, schema: MailWithText },
      async handler(_context, { params }) {
        assertKept();
        const { text, ...mail } = await mailbox.get(params.id);
        return { ...toMail(mail), text };
      },
    }),
  ];
}
