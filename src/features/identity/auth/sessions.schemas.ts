import Type, { type TObject } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { TEAM_ROLES } from '../../../kernel/access.ts';
import { RegisterIn } from './schemas.ts';
import type { SessionRow } from './sessions.repository.ts';

export const SessionRegisterIn = namedSchema(
  'SessionRegister',
  Type.Object({
    ...RegisterIn.properties,
    inviteToken: Type.Optional(
      Type.String({ maxLength: 100, description: 'Token of an invitation, if registration requires one.' }),
    ),
  }),
  { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada Lovelace' },
);

export const PasswordIn = namedSchema(
  'SessionPassword',
  Type.Object({ password: Type.String({ description: 'Current password of the account.' }) }),
  {
    password: 'correct horse battery',
  },
);

export const PasswordConfirmed = namedSchema(
  'SessionPasswordConfirmed',
  Type.Object({ confirmedUntil: Instant }),
  {
    confirmedUntil: '2026-11-20T09:10:00.000Z',
  },
);

export const VerificationSent = namedSchema('VerificationSent', Type.Object({ sent: Type.Literal(true) }), {
  sent: true,
});

export const RegistrationTerms = namedSchema(
  'RegistrationTerms',
  Type.Object({
    mode: OneOf(['open', 'invite', 'closed'] as const, {
      description: 'Who can register in the dashboard: anyone, invited people, or no one.',
    }),
    termsUrl: Nullable(
      Type.String({ description: 'URL of the terms that people accept when they register.' }),
    ),
    passwordMinLength: Type.Integer(),
  }),
  { mode: 'open', termsUrl: null, passwordMinLength: 12 },
);

export const OpenSession = namedSchema(
  'Session',
  Type.Object({
    id: IdOf('uss'),
    createdAt: Instant,
    lastSeenAt: Type.String({ format: 'date-time', description: 'Accurate to five minutes.' }),
    ip: Nullable(Type.String({ description: 'Where it was last used from.' })),
    userAgent: Type.String(),
    isCurrent: Type.Boolean({ description: 'Whether this is the session of the request.' }),
  }),
  {
    id: 'uss_01kafe3n4pfx2v9yq6m8d7t5zr',
    createdAt: '2026-11-20T09:00:00.000Z',
    lastSeenAt: '2026-11-20T09:05:00.000Z',
    ip: '192.0.2.10',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    isCurrent: true,
  },
);

export function toSession(row: SessionRow, currentId: string) {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    lastSeenAt: row.last_seen_at.toISOString(),
    ip: row.ip,
    userAgent: row.user_agent,
    isCurrent: row.id === currentId,
  };
}

/** @param user schema of an account as shown to its owner. */
export function currentSession(user: TObject) {
  const [example] = 'examples' in user && Array.isArray(user.examples) ? user.examples : [];
  return namedSchema(
    'CurrentSession',
    Type.Object({
      user,
      csrfToken: Type.String({ description: 'Send as `X-CSRF-Token` with every request other than GET.' }),
      accounts: Type.Array(
        Type.Object({ id: IdOf('usr'), name: Type.String(), teamRole: OneOf(TEAM_ROLES) }),
        {
          description: 'Accounts the session can act for, starting with its own; `X-Account-Id` selects one.',
        },
      ),
      hasMailbox: Type.Boolean({
        description: 'Whether the session can read the development mailbox.',
      }),
      expiresAt: Type.String({
        format: 'date-time',
        description: 'When the session expires if it is not used.',
      }),
    }),
    {
      user: { ...Object(example) },
      csrfToken: 'Yq7k2Jw0p3b1l9e6u4s8x5z7r2t0v1n3m6c9d8f5g4h',
      accounts: [{ id: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr', name: 'Ada Lovelace', teamRole: 'OWNER' }],
      hasMailbox: false,
      expiresAt: '2026-12-04T09:00:00.000Z',
    },
  );
}
