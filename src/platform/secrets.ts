import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Everything that hangs on `SECRET_KEY`; each use has a key of its own, derived from it. */
export interface Secrets {
  /**
   * AES-256-GCM: a version byte, a random nonce, the ciphertext and its tag.
   *
   * @param context what the text belongs to, such as a row's id: it decrypts in the same context only.
   */
  encrypt(text: string, context?: string): Uint8Array;
  /** @throws {Error} when the bytes are damaged, of another key, or of another context. */
  decrypt(bytes: Uint8Array, context?: string): string;
  /** HMAC-SHA256 in base64url, under the key of this purpose. */
  sign(purpose: string, text: string): string;
  /** Compares in constant time. */
  verify(purpose: string, text: string, signature: string): boolean;
}

const KEY_BYTES = 32;
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** @param key 32 bytes. */
export function createSecrets(key: Buffer): Secrets {
  if (key.length !== KEY_BYTES) throw new Error('the secret key must have 32 bytes');
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', key, '', purpose, KEY_BYTES));
  const encryptionKey = derive('marquee encryption v1');
  const signingKeys = new Map<string, Buffer>();
  const mac = (purpose: string, text: string) => {
    const known = signingKeys.get(purpose) ?? derive(`marquee signature v1 ${purpose}`);
    signingKeys.set(purpose, known);
    return createHmac('sha256', known).update(text).digest();
  };
  return {
    encrypt(text, context = '') {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, encryptionKey, nonce).setAAD(Buffer.from(context));
      const parts = [cipher.update(text, 'utf8'), cipher.final()];
      return Buffer.concat([Buffer.of(VERSION), nonce, ...parts, cipher.getAuthTag()]);
    },
    decrypt(bytes, context = '') {
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const minimum = 1 + NONCE_BYTES + TAG_BYTES;
      if (data.length < minimum || data[0] !== VERSION) throw new Error('not an encrypted secret');
      const nonce = data.subarray(1, 1 + NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, encryptionKey, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(context))
        .setAuthTag(data.subarray(-TAG_BYTES));
      const text = decipher.update(data.subarray(1 + NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
    sign: (purpose, text) => mac(purpose, text).toString('base64url'),
    verify(purpose, text, signature) {
      // As text: the last letter of base64url has bits to spare, and several would decode to the same bytes.
      const given = Buffer.from(signature);
      const expected = Buffer.from(mac(purpose, text).toString('base64url'));
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

export interface SecretKeySource {
  DATA_DIR: string;
  /** 64 hexadecimal characters. */
  SECRET_KEY?: string | undefined;
  /** A file of the operator's, which holds them. */
  SECRET_KEY_FILE?: string | undefined;
}

/**
 * Returns the configured key, or the one stored in `DATA_DIR`, which is created (mode 0600) when it is
 * missing. Any number of processes may call this concurrently: they get the same key.
 */
export async function loadSecretKey(source: SecretKeySource): Promise<Buffer> {
  if (source.SECRET_KEY !== undefined) return Buffer.from(source.SECRET_KEY, 'hex');
  if (source.SECRET_KEY_FILE !== undefined) return readGivenKey(source.SECRET_KEY_FILE);
  return loadOrCreateKey(source.DATA_DIR);
}

/** The key that is there, or null; unlike `loadSecretKey` it makes none. */
export function findSecretKey(source: SecretKeySource): Promise<Buffer | null> {
  const isGiven = source.SECRET_KEY !== undefined || source.SECRET_KEY_FILE !== undefined;
  return isGiven ? loadSecretKey(source) : readKey(join(source.DATA_DIR, 'secret.key'));
}

/** Never made: behind a slip in the name, a new key would make all that is encrypted unreadable. */
async function readGivenKey(file: string): Promise<Buffer> {
  const key = await readKey(file);
  if (key === null)
    throw new Error(
      `${file} (SECRET_KEY_FILE) does not exist; create it with: openssl rand -hex 32 > ${file}`,
    );
  return key;
}

async function loadOrCreateKey(dataDir: string): Promise<Buffer> {
  const file = join(dataDir, 'secret.key');
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const existing = await readKey(file);
  if (existing !== null) return existing;
  await mkdir(dataDir, { recursive: true });
  try {
    await writeFile(draft, `${randomBytes(KEY_BYTES).toString('hex')}\n`, { mode: 0o600, flush: true });
    // A link appears whole or not at all, and fails when another process was first.
    await link(draft, file).catch(() => {});
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readKey(file);
  if (made === null) throw new Error(`the secret key could not be written to ${file}`);
  return made;
}

async function readKey(file: string): Promise<Buffer | null> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  if (!/^[0-9a-f]{64}\s*$/i.test(text)) throw new Error(`${file} does not contain 64 hexadecimal characters`);
  return Buffer.from(text.trim(), 'hex');
}
