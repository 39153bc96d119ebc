import Type from 'typebox';
import { requiresGate } from '../../../http/access.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { Instant } from '../../../http/schema.ts';
import type { EmailChange } from './email-change.service.ts';
import type { PasswordChange } from './password-change.service.ts';
import { credentialCaps, currentCredential } from './routes.ts';

const EmailIn = namedSchema(
  'EmailChange',
  Type.Object({
    email: Type.String({ description: 'At most 254 characters; trimmed and lowercased.' }),
    password: Type.String({ description: 'Current password of the account.' }),
  }),
  { email: 'ada@example.org', password: 'correct horse battery' },
);

const PendingEmail = namedSchema(
  'PendingEmail',
  Type.Object({
    email: Type.String({ description: 'Current email address until the new one is confirmed.' }),
    pendingEmail: Type.String(),
    confirmBefore: Instant,
  }),
  {
    email: 'ada@example.com',
    pendingEmail: 'ada@example.org',
    confirmBefore: '2026-11-21T09:00:00.000Z',
  },
);

const PasswordIn = namedSchema(
  'PasswordChange',
  Type.Object({
    password: Type.String({ description: 'Current password of the account.' }),
    newPassword: Type.String({ description: 'At least 12 characters.' }),
  }),
  { password: 'correct horse battery', newPassword: 'wrong donkey battery' },
);

const PasswordChanged = namedSchema('PasswordChanged', Type.Object({ changed: Type.Literal(true) }), {
  changed: true,
});

/** `/me/email` and `/me/password` (docs/concepts/me.md#email-and-password). */
export function credentialRoutes({
  addressChange,
  passwordChange,
}: {
  addressChange: Pick<EmailChange, 'ask'>;
  passwordChange: PasswordChange;
}): Route[] {
  return [
    defineRoute({
      ...requiresGate('session-owner'),
      onlyMode: 'live',
      operationId: 'me.changeEmail',
      method: 'PATCH',
      path: '/me/email',
      summary: "Change the account's email address",
      description:
        'Sends an email to both addresses. The change takes effect when the new address is confirmed; the old address can revert it for seven days.',
      limits: credentialCaps('email-change'),
      body: EmailIn,
      reply: { status: 200, schema: PendingEmail },
      errors: ['INVALID_CREDENTIALS', 'INVALID_EMAIL', 'EMAIL_EXISTS', 'SERVICE_UNAVAILABLE'],
      async handler({ caller, ip }, { body }) {
        const { confirmBefore, ...asked } = await addressChange.ask(caller.accountId, body, { ip });
        return { ...asked, confirmBefore: confirmBefore.toISOString() };
      },
    }),
    defineRoute({
      ...requiresGate('session-owner'),
      onlyMode: 'live',
      operationId: 'me.changePassword',
      method: 'POST',
      path: '/me/password',
      summary: "Change the account's password",
      description:
        'Ends all user tokens and all other sessions of the account and notifies the owner by email.',
      limits: credentialCaps('password-change'),
      body: PasswordIn,
      reply: { status: 200, schema: PasswordChanged },
      errors: ['INVALID_CREDENTIALS', 'WEAK_PASSWORD', 'SERVICE_UNAVAILABLE'],
      async handler(context, { body }) {
        await passwordChange.change(context.caller.accountId, body, currentCredential(context));
        return { changed: true };
      },
    }),
  ];
}
