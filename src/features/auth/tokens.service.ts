import { errors, jwtVerify, SignJWT } from 'jose';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Secrets } from '../../platform/secrets.ts';
import type { CredentialStore } from './accounts.ts';
import { createSigningKeys } from './signing-keys.ts';

/**
 * The JWTs that a sign-in gives and that come back as `X-User-Token`
 * (docs/decisions/authentication.md#user-tokens).
 */
export interface UserTokens {
  issue(account: { id: string; token_epoch: number }): Promise<AccessToken>;
  /**
   * @returns the id of the account, or null when the token is malformed, forged, expired, of a suspended
   * account, or older than the account's last change of password.
   */
  verify(token: string): Promise<string | null>;
  /** Keeps the keys fresh; the worker calls it now and then. */
  rotateKeys(): Promise<void>;
}

export interface AccessToken {
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
}

const LIFE_SEC = 3600;
const ALGORITHM = 'EdDSA';
const AUDIENCE = 'marquee:user';
/** Far above what we issue; nothing longer is worth parsing. */
const MAX_LENGTH = 2048;
const EPOCH_CLAIM = 'epoch';

interface Deps {
  db: Db;
  credentials: Pick<CredentialStore, 'findTokenState'>;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  clock: Clock;
  log: Logger;
  /** The `iss` of every token: the public address of the platform. */
  issuer: string;
}

export function createUserTokens(deps: Deps): UserTokens {
  const { db, credentials, clock, issuer } = deps;
  const keys = createSigningKeys({ ...deps, tokenSec: LIFE_SEC });

  const read = async (token: string) => {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = kid === undefined ? null : await keys.find(kid);
        if (key === null) throw new errors.JWKSNoMatchingKey();
        return key.publicKey;
      },
      // The list of algorithms is what stops `none` and HMACs keyed with the public key.
      {
        algorithms: [ALGORITHM],
        issuer,
        audience: AUDIENCE,
        requiredClaims: ['sub', 'exp', EPOCH_CLAIM],
        currentDate: clock.now(),
      },
    );
    return payload;
  };

  return {
    async issue({ id, token_epoch }) {
      const { kid, privateKey } = await keys.signer();
      const now = clock.ms();
      const accessToken = await new SignJWT({ [EPOCH_CLAIM]: token_epoch })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid })
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setSubject(id)
        .setIssuedAt(dateFromMs(now))
        .setExpirationTime(dateFromMs(now + LIFE_SEC * 1000))
        .sign(privateKey);
      return { accessToken, expiresIn: LIFE_SEC };
    },
    async verify(token) {
      if (token.length > MAX_LENGTH) return null;
      const payload = await read(token).catch((error: unknown) => {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      });
      if (typeof payload?.sub !== 'string') return null;
      const account = await credentials.findTokenState(db, payload.sub);
      if (account === undefined || account.suspended_at !== null) return null;
      return payload[EPOCH_CLAIM] === account.token_epoch ? payload.sub : null;
    },
    rotateKeys: () => keys.rotate(),
  };
}
