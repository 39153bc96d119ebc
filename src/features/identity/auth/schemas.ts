import Type from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

namedSchema('Role', OneOf(['USER', 'ADMIN'] as const));

/** The values are checked behind the types, address, then password (docs/concepts/authentication.md#registration). */
export const RegisterIn = namedSchema(
  'Register',
  Type.Object({
    email: Type.String({ description: 'At most 254 characters; trimmed and lowercased.' }),
    password: Type.String({ description: 'At least 12 characters.' }),
    name: Type.Optional(Nullable(Type.String({ description: 'Trimmed and truncated to 120 characters.' }))),
  }),
  { email: 'ada@example.com', password: 'correct horse battery', name: 'Ada Lovelace' },
);

export const LoginIn = namedSchema('Login', Type.Object({ email: Type.String(), password: Type.String() }), {
  email: 'ada@example.com',
  password: 'correct horse battery',
});

export const SecondFactorIn = namedSchema(
  'LoginSecondFactor',
  Type.Object({
    challengeId: Type.String({ description: 'From the 401 SECOND_FACTOR_REQUIRED.' }),
    code: Type.String({ description: 'Six-digit code from the authenticator app, or a recovery code.' }),
  }),
  { challengeId: 'c2Vjb25kIGZhY3Rvcg', code: '492039' },
);

/** Response with the token at its top level (docs/concepts/authentication.md#sign-in). */
export const SignedIn = namedSchema(
  'SignedIn',
  Type.Object({
    tokens: Type.Object({
      accessToken: Type.String({ description: 'JWT to send as `X-User-Token`.' }),
      expiresIn: Type.Integer({ description: 'Seconds.' }),
    }),
    user: Type.Object({
      id: IdOf('usr'),
      email: Type.String(),
      name: Nullable(Type.String()),
      role: OneOf(VALUES.account.role),
    }),
  }),
  {
    tokens: { accessToken: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3IifQ.c2lnbmF0dXJl', expiresIn: 3600 },
    user: {
      id: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr',
      email: 'ada@example.com',
      name: 'Ada Lovelace',
      role: 'USER',
    },
  },
);

export const SignedOut = namedSchema('SignedOut', Type.Object({ signedOut: Type.Literal(true) }), {
  signedOut: true,
});

export const TwoFactorState = namedSchema(
  'TwoFactorState',
  Type.Object({
    enabled: Type.Boolean(),
    recoveryCodesLeft: Type.Integer(),
  }),
  { enabled: true, recoveryCodesLeft: 10 },
);
export const EnrolIn = namedSchema('TwoFactorEnrol', Type.Object({ password: Type.String() }), {
  password: 'correct horse battery',
});
export const Enrolment = namedSchema(
  'TwoFactorEnrolment',
  Type.Object({
    secret: Type.String({ description: 'Base32, for apps that cannot read the URL.' }),
    otpauthUrl: Type.String({ description: '`otpauth://` URL to display as a QR code.' }),
  }),
  {
    secret: 'JBSWY3DPEHPK3PXP',
    otpauthUrl: 'otpauth://totp/Marquee:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Marquee',
  },
);
export const ConfirmIn = namedSchema('TwoFactorConfirm', Type.Object({ code: Type.String() }), {
  code: '492039',
});
export const RecoveryCodes = namedSchema(
  'RecoveryCodes',
  Type.Object({
    recoveryCodes: Type.Array(Type.String(), {
      description: 'Ten one-time codes; returned only in this response.',
    }),
  }),
  { recoveryCodes: ['k3v9x-2m7qa', '9fhtc-4wzk2'] },
);
export const DisableIn = namedSchema(
  'TwoFactorDisable',
  Type.Object({ password: Type.String(), code: Type.String() }),
  { password: 'correct horse battery', code: '492039' },
);
