import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import Type, { type Static, type TSchema } from 'typebox';
import Value from 'typebox/value';
import type { BlobStore } from '../media/contract/index.ts';

/**
 * How a backup lies in its folder or bucket (docs/guides/operations.md#backup-contents): what one of them has of its own
 * below `backups/<id>/`, its manifest last, and the media of all below `media/`, each content once, by its hash.
 */
const BACKUPS = 'backups/';
export const MEDIA = 'media/';

export const folderOf = (id: string) => `${BACKUPS}${id}/`;
export const tableKey = (id: string, table: string) => `${folderOf(id)}tables/${table}.copy.zst`;
export const mediaListKey = (id: string) => `${folderOf(id)}media.ndjson.zst`;
const manifestKey = (id: string) => `${folderOf(id)}manifest.json`;
export const blobKey = (sha256: string) => `${MEDIA}${sha256.slice(0, 2)}/${sha256}`;

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = Type.Integer({ minimum: 0 });
/** No character of it needs quotes in SQL, and none leads out of a folder. */
const Name = Type.String({ pattern: '^[a-z_][a-z0-9_]*\\.[a-z_][a-z0-9_]*$' });

const Manifest = Type.Object({
  format: Type.Literal(1),
  id: Type.String(),
  /** Start of the backup; it includes all data acknowledged before. */
  startedAt: Type.String(),
  finishedAt: Type.String(),
  /** Tells whether a secret key is that of the platform, and nothing of the key. */
  secretKey: Type.String(),
  migrations: Type.Array(Type.String({ pattern: '^[0-9]{4}_[a-z0-9_]+\\.sql$' })),
  tables: Type.Array(
    Type.Object({
      name: Name,
      columns: Type.Array(Type.String()),
      rows: Count,
      /** Size and hash of the compressed file. */
      sizeBytes: Count,
      sha256: Sha256,
    }),
  ),
  sequences: Type.Array(
    Type.Object({ name: Name, value: Type.String({ pattern: '^[0-9]+$' }), isCalled: Type.Boolean() }),
  ),
  media: Type.Object({ files: Count, sizeBytes: Count, listBytes: Count, sha256: Sha256 }),
});
export type Manifest = Static<typeof Manifest>;

/** A file of the platform, and which content it had. */
const MediaFile = Type.Object({
  /** Location: the media store, or the data folder with a relative path as its key. */
  place: Type.Union([Type.Literal('STORE'), Type.Literal('DATA')]),
  key: Type.String(),
  sizeBytes: Count,
  /** ETag in the store: equal tags mean equal content. */
  etag: Type.String(),
  sha256: Sha256,
});
export type MediaFile = Static<typeof MediaFile>;

function parseAs<T extends TSchema>(schema: T, source: string, what: string): Static<T> {
  try {
    const value: unknown = JSON.parse(source);
    if (Value.Check(schema, value)) return value;
  } catch {
    // Invalid JSON and a wrong shape get one message: the file was modified.
  }
  throw new Error(`${what} is corrupt or was written by another version of Marquee`);
}

export const parseMediaFile = (line: string, id: string) =>
  parseAs(MediaFile, line, `the media list of ${id}`);

export async function writeManifest(target: BlobStore, manifest: Manifest): Promise<void> {
  await target.put(manifestKey(manifest.id), JSON.stringify(manifest, null, 1), 'application/json');
}

export async function removeManifest(target: BlobStore, id: string): Promise<void> {
  await target.delete(manifestKey(id));
}

/** Lists the backups, oldest first; one without a manifest was interrupted. */
export async function listBackups(target: BlobStore): Promise<{ whole: string[]; broken: string[] }> {
  const found = new Map<string, boolean>();
  for await (const { key } of target.list(BACKUPS)) {
    const [, id = ''] = key.split('/');
    found.set(id, (found.get(id) ?? false) || key === manifestKey(id));
  }
  const ids = [...found.keys()].sort();
  return {
    whole: ids.filter((id) => found.get(id) === true),
    broken: ids.filter((id) => found.get(id) !== true),
  };
}

/** @param id default: the newest. @throws {Error} one line, when there is none. */
export async function readManifest(target: BlobStore, id?: string): Promise<Manifest> {
  const { whole } = await listBackups(target);
  const wanted = id ?? whole.at(-1);
  if (wanted === undefined) throw new Error('no complete backup found');
  if (!whole.includes(wanted)) throw new Error(`no complete backup ${wanted} found`);
  const file = await target.open(manifestKey(wanted));
  if (file === null) throw new Error(`no complete backup ${wanted} found`);
  return parseAs(Manifest, await text(file.body), `the manifest of ${wanted}`);
}

/** Stream that passes data through and computes its size and hash. */
export interface HashingStream extends Transform {
  sizeBytes: number;
  /** Line feeds. */
  lines: number;
  digest(): string;
}

export function createHashingStream(): HashingStream {
  const hash = createHash('sha256');
  const seen = { sizeBytes: 0, lines: 0, digest: () => hash.copy().digest('hex') };
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      measured.sizeBytes += chunk.length;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) {
        measured.lines += 1;
      }
      done(null, chunk);
    },
  });
  const measured: HashingStream = Object.assign(stream, seen);
  return measured;
}

const LINE_FEED = 0x0a;
