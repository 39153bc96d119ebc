import { createCipheriv, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * Encryption of SRT (draft-sharabayko-srt-01, sections 3.2.2 and 6): a stream key generated for each
 * connection, wrapped with one that both sides derive from the passphrase.
 */
export interface SrtKey {
  /** Key length of 16, 24 or 32 bytes. */
  readonly length: number;
  /** Message with the wrapped key (section 3.2.2). */
  readonly message: Buffer;
  /** The payload of the packet with this number, encrypted: AES in counter mode. */
  encrypt(payload: Buffer, sequence: number): Buffer;
}

export type SrtKeyLength = 16 | 24 | 32;

const SALT_BYTES = 16;
const ITERATIONS = 2048;
/** Section 6.1.4: HMAC-SHA1 over the last 64 bits of the salt. */
const derive = promisify(pbkdf2);
/** The initial value of RFC 3394, section 2.2.3.1. */
const WRAP_IV = Buffer.alloc(8, 0xa6);
const CTR = { 16: 'aes-128-ctr', 24: 'aes-192-ctr', 32: 'aes-256-ctr' } as const;
const WRAP = { 16: 'id-aes128-wrap', 24: 'id-aes192-wrap', 32: 'id-aes256-wrap' } as const;

export async function createSrtKey(passphrase: string, length: SrtKeyLength): Promise<SrtKey> {
  const salt = randomBytes(SALT_BYTES);
  const key = randomBytes(length);
  const wrapping = await derive(passphrase, salt.subarray(8), ITERATIONS, length, 'sha1');
  const wrap = createCipheriv(WRAP[length], wrapping, WRAP_IV);
  const wrapped = Buffer.concat([wrap.update(key), wrap.final()]);
  return {
    length,
    message: Buffer.concat([keyMaterialHead(length), salt, wrapped]),
    encrypt(payload, sequence) {
      const cipher = createCipheriv(CTR[length], key, counterOf(salt, sequence));
      return cipher.update(payload);
    },
  };
}

/** Builds the head: version 1, key material, only the even key; AES in counter mode for MPEG-TS over SRT. */
function keyMaterialHead(length: number): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt8(0x12, 0);
  head.writeUInt16BE(0x2029, 1);
  head.writeUInt8(1, 3);
  head.writeUInt8(2, 8);
  head.writeUInt8(2, 10);
  head.writeUInt8(SALT_BYTES / 4, 14);
  head.writeUInt8(length / 4, 15);
  return head;
}

/** Section 6.2.2: the number of the packet over the blocks in it, and the salt over both. */
function counterOf(salt: Buffer, sequence: number): Buffer {
  const counter = Buffer.alloc(16);
  counter.writeUInt32BE(sequence, 10);
  for (let at = 0; at < 14; at += 1) counter.writeUInt8(counter.readUInt8(at) ^ salt.readUInt8(at), at);
  return counter;
}
