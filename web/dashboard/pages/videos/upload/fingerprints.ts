import { currentAccountId } from '../../../app/account.ts';
import { currentMode } from '../../../app/mode.ts';

const KEY = 'marquee.uploads';
/** Maximum entries; the oldest one is dropped. */
const MAX_FINGERPRINTS = 200;

/** Upload session of a file, so that choosing the file again resumes that session. */
interface StoredUpload {
  fingerprint: string;
  uploadId: string;
}

/** Returns a key that identifies a file without reading it, within one account and workspace. */
export function fingerprintOf({ name, size, type, lastModified }: File): string {
  return JSON.stringify([currentAccountId(), currentMode(), name, size, type, lastModified]);
}

export function findUpload(fingerprint: string): string | null {
  return read().find((known) => known.fingerprint === fingerprint)?.uploadId ?? null;
}

export function rememberUpload(fingerprint: string, uploadId: string): void {
  const others = read().filter((known) => known.fingerprint !== fingerprint);
  write([...others, { fingerprint, uploadId }].slice(-MAX_FINGERPRINTS));
}

export function forgetUpload(uploadId: string): void {
  write(read().filter((known) => known.uploadId !== uploadId));
}

function read(): StoredUpload[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(list) ? list.filter(isKnown) : [];
  } catch {
    return [];
  }
}

function write(list: StoredUpload[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(list));
  } catch {
    // If storage is unavailable, uploads are resumed from the list of unfinished ones.
  }
}

function isKnown(entry: unknown): entry is StoredUpload {
  return typeof entry === 'object' && entry !== null && 'fingerprint' in entry && 'uploadId' in entry;
}
