import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { StoredEmail } from './service.ts';

const fields = {
  id: IdOf('mail'),
  kind: Type.String({ description: 'Kind of email, such as `verify-email`.' }),
  to: Type.String(),
  subject: Type.String(),
  status: OneOf(VALUES.mail.status),
  createdAt: Instant,
};

const EXAMPLE = {
  id: 'mail_01kafe3n4pfx2v9yq6m8d7t5zr',
  kind: 'verify-email',
  to: 'ada@example.com',
  subject: 'Verify your email address',
  status: 'KEPT' as const,
  createdAt: '2026-11-20T09:00:00.000Z',
};

export const Mail = namedSchema('Mail', Type.Object(fields), EXAMPLE);

export const MailWithText = namedSchema(
  'MailWithText',
  Type.Object({ ...fields, text: Nullable(Type.String()) }),
  {
    ...EXAMPLE,
    text: 'A Marquee account was created with this email address.',
  },
);

export function toMail({ id, kind, to, subject, status, createdAt }: StoredEmail): Static<typeof Mail> {
  return { id, kind, to, subject, status, createdAt: createdAt.toISOString() };
}
