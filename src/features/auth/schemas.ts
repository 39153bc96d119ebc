import Type from 'typebox';
import { Nullable, OneOf } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';

/** The values are checked behind the types, in the contract's order: address, then password (2.9). */
export const RegisterIn = Type.Object({
  email: Type.String({ description: 'At most 254 characters; trimmed and lower-cased.' }),
  password: Type.String({ description: 'At least 12 characters.' }),
  name: Type.Optional(Nullable(Type.String({ description: 'Trimmed, and cut to 120 characters.' }))),
});

export const LoginIn = Type.Object({ email: Type.String(), password: Type.String() });

export const SecondFactorIn = Type.Object({
  challengeId: Type.String({ description: 'From the 401 SECOND_FACTOR_REQUIRED.' }),
  code: Type.String({ description: 'The six digits of the authenticator app, or a recovery code.' }),
});

/** Stands at the top level of the answer (contract 2.1). */
export const SignedIn = Type.Object({
  tokens: Type.Object({
    accessToken: Type.String({ description: 'A JWT; send it as `X-User-Token`.' }),
    expiresIn: Type.Integer({ description: 'Seconds.' }),
  }),
  user: Type.Object({
    id: Type.String(),
    email: Type.String(),
    name: Nullable(Type.String()),
    role: OneOf(VALUES.account.role),
  }),
});

export const TwoFactorState = Type.Object({
  enabled: Type.Boolean(),
  recoveryCodesLeft: Type.Integer(),
});
export const EnrolIn = Type.Object({ password: Type.String() });
export const Enrolment = Type.Object({
  secret: Type.String({ description: 'Base32, for apps that cannot read the address.' }),
  otpauthUrl: Type.String({ description: 'Show it as a QR code.' }),
});
export const ConfirmIn = Type.Object({ code: Type.String() });
export const RecoveryCodes = Type.Object({
  recoveryCodes: Type.Array(Type.String(), { description: 'Ten, each good once; shown only here.' }),
});
export const DisableIn = Type.Object({ password: Type.String(), code: Type.String() });
