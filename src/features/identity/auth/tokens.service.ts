import { hash } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { newUuid } from '../../../kernel/ids.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { CredentialStore } from './accounts.ts';
import { type CachedCredential, createCredentialCache } from './credential-cache.ts';
import { createSigningKeys, type SigningKeys } from './signing-keys.ts';
import * as repository from './tokens.repository.ts';

/**
 * JWTs that a sign-in returns and clients send as `X-User-Token`
 * (docs/decisions/authentication.md#user-tokens).
 */
export interface UserTokens {
  /** Issues a user token. @param also writes in the same transaction. */
  issue(account: { id: string; token_epoch: number }, also?: (tx: Tx) => Promise<void>): Promise<AccessToken>;
  /**
   * Verifies a token; the result may be up to 5 s old.
   *
   * @returns null when the token is malformed, forged, expired or ended, of a suspended account, or older
   *   than the account's last change of password.
   */
  verify(token: string): Promise<UserToken | null>;
  end(token: UserToken): Promise<void>;
  /** Ends every token of the account but `keep`. Call `forget` after the commit. */
  endAll(tx: Tx, accountId: string, keep: string | null): Promise<void>;
  /** Clears cached tokens on every node. */
  forget(): void;
  /** Deletes expired tokens. */
  cleanUp(): Promise<void>;
  /** Rotates the signing keys; the worker calls it periodically. */
  rotateKeys(): Promise<void>;
}

export interface UserToken {
  accountId: string;
  tokenId: string;
}

export interface AccessToken {
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
}

const LIFE_SEC = 3600;
const ALGORITHM = 'EdDSA';
const AUDIENCE = 'marquee:user';
/** Maximum token length, far above that of issued tokens. */
const MAX_LENGTH = 2048;
const EPOCH_CLAIM = 'epoch';
const CHANGED_TOPIC = 'user-tokens';

interface Deps {
  db: Db;
  credentials: Pick<CredentialStore, 'findTokenState'>;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  clock: Clock;
  bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** Registers a listener for possible changes of accounts. */
  onAccountsChanged(listener: () => void): void;
  log: Logger;
  /** `iss` claim of every token: the public URL of the platform. */
  issuer: string;
}

export function createUserTokens(deps: Deps): UserTokens {
  const { db, clock, bus } = deps;
  const keys = createSigningKeys({ ...deps, tokenSec: LIFE_SEC });
  const known = createCredentialCache<UserToken>(deps, CHANGED_TOPIC);
  const issuer = { ...deps, keys };

  return {
    async issue({ id: accountId, token_epoch: epoch }, also) {
      const tokenId = newUuid();
      const now = clock.ms();
      const expiresAt = dateFromMs(now + LIFE_SEC * 1000);
      // Signed before the transaction: the first signature creates a key in its own transaction.
      const accessToken = await sign(issuer, { tokenId, accountId, epoch, expiresAt });
      await db.transaction().execute(async (tx) => {
        await repository.insertToken(tx, { id: tokenId, account_id: accountId, expires_at: expiresAt });
        await also?.(tx);
      });
      return { accessToken, expiresIn: LIFE_SEC };
    },
    async verify(token) {
      if (token.length > MAX_LENGTH) return null;
      const name = hash('sha256', token, 'base64');
      return known.get(name) ?? known.read(name, () => verify(issuer, token));
    },
    async end({ accountId, tokenId }) {
      await repository.deleteToken(db, accountId, tokenId);
      bus.publish(CHANGED_TOPIC);
    },
    endAll: (tx, accountId, keep) => repository.deleteTokensOf(tx, accountId, keep),
    forget: () => bus.publish(CHANGED_TOPIC),
    cleanUp: () => repository.deleteExpiredTokens(db, clock.now()),
    rotateKeys: () => keys.rotate(),
  };
}

type Issuer = Deps & { keys: SigningKeys };

async function sign(
  { keys, issuer, clock }: Issuer,
  { tokenId, accountId, epoch, expiresAt }: UserToken & { epoch: number; expiresAt: Date },
): Promise<string> {
  const { kid, privateKey } = await keys.signer();
  return new SignJWT({ [EPOCH_CLAIM]: epoch })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid })
    .setIssuer(issuer)
    .setAudience(AUDIENCE)
    .setSubject(accountId)
    .setJti(tokenId)
    .setIssuedAt(dateFromMs(clock.ms()))
    .setExpirationTime(expiresAt)
    .sign(privateKey);
}

/** Returns the claims of a token with valid signature, issuer, audience and time; null otherwise. */
async function claimsOf({ keys, issuer, clock }: Issuer, token: string) {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = kid === undefined ? null : await keys.find(kid);
        if (key === null) throw new errors.JWKSNoMatchingKey();
        return key.publicKey;
      },
      // The list of algorithms rejects `none` and HMACs keyed with the public key.
      {
        algorithms: [ALGORITHM],
        issuer,
        audience: AUDIENCE,
        requiredClaims: ['sub', 'exp', 'jti', EPOCH_CLAIM],
        currentDate: clock.now(),
      },
    );
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

async function verify(issuer: Issuer, token: string): Promise<CachedCredential<UserToken> | null> {
  const { db, credentials } = issuer;
  const { sub: accountId, jti: tokenId, exp, [EPOCH_CLAIM]: epoch } = (await claimsOf(issuer, token)) ?? {};
  if (typeof accountId !== 'string' || typeof tokenId !== 'string' || exp === undefined) return null;
  const [account, isThere] = await Promise.all([
    credentials.findTokenState(db, accountId),
    repository.hasToken(db, accountId, tokenId),
  ]);
  if (!isThere || account === undefined || account.suspended_at !== null) return null;
  if (epoch !== account.token_epoch) return null;
  return { value: { accountId, tokenId }, untilMs: exp * 1000 };
}
