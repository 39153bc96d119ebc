import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import * as repository from './tokens.repository.ts';

/** Signing key; the header of each token that it signed has its `kid` (RFC 7515 4.1.4). */
export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  createdAt: Date;
}

/** Rotating Ed25519 key set of user tokens, shared by all nodes through the database. */
export interface SigningKeys {
  /** Returns the newest key; creates one when none exists. */
  signer(): Promise<SigningKey>;
  /** Returns the key with this ID; null when there is none. */
  find(kid: string): Promise<SigningKey | null>;
  /** Creates a key when the newest is 30 days old, and deletes those whose last token has expired. */
  rotate(): Promise<void>;
}

const ROTATE_MS = 30 * 86_400_000;
/** Time that a node signs with its cached newest key. */
const CACHE_MS = 60_000;
/** Minimum interval between reloads for an unknown `kid`, which may be another node's new key. */
const REREAD_MS = 1000;

interface Deps {
  db: Db;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  clock: Clock;
  log: Logger;
  /** Lifetime of a token in seconds, during which a replaced key still verifies. */
  tokenSec: number;
}

export function createSigningKeys({ db, secrets, clock, log, tokenSec }: Deps): SigningKeys {
  let known = new Map<string, SigningKey>();
  let newest: SigningKey | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  const open = (row: repository.SigningKeyRow): SigningKey | null => {
    try {
      const privateKey = createPrivateKey(secrets.decrypt(row.private_key, row.kid));
      return {
        kid: row.kid,
        privateKey,
        publicKey: createPublicKey(privateKey),
        createdAt: row.created_at,
      };
    } catch (error) {
      // SECRET_KEY has changed: its tokens are void, and sign-in continues with a new key.
      log.warn({ err: error, kid: row.kid }, 'a signing key cannot be decrypted');
      return null;
    }
  };
  const read = async (from: Db | Tx) => {
    const rows = await repository.listKeys(from);
    const keys = rows.map((row) => known.get(row.kid) ?? open(row)).filter((key) => key !== null);
    known = new Map(keys.map((key) => [key.kid, key]));
    newest = keys[0];
    readAt = performance.now();
  };
  const add = async (tx: Tx) => {
    const pair = generateKeyPairSync('ed25519');
    const kid = randomUUID();
    const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const row = { kid, private_key: secrets.encrypt(pem, kid), created_at: clock.now() };
    await repository.insertKey(tx, row);
    log.info({ kid }, 'created a signing key for user tokens');
  };
  const isDue = (key: SigningKey | undefined) =>
    key === undefined || clock.ms() - key.createdAt.getTime() >= ROTATE_MS;
  const replace = async (needed: (key: SigningKey | undefined) => boolean) => {
    await db.transaction().execute(async (tx) => {
      await repository.lockKeys(tx);
      await read(tx);
      if (needed(newest)) await add(tx);
      const retired = clock.ms() - tokenSec * 1000 - 2 * CACHE_MS;
      await repository.deleteKeysReplacedBefore(tx, dateFromMs(retired));
    });
    await read(db);
  };

  return {
    async signer() {
      if (performance.now() - readAt > CACHE_MS) await read(db);
      if (newest === undefined) await replace((key) => key === undefined);
      if (newest === undefined) throw new Error('there is no key to sign user tokens with');
      return newest;
    },
    async find(kid) {
      if (!known.has(kid) && performance.now() - readAt > REREAD_MS) await read(db);
      return known.get(kid) ?? null;
    },
    rotate: () => replace(isDue),
  };
}
