import { once } from 'node:events';
import { addAbortSignal, PassThrough, Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** One file of an archive; what is in it is asked for when its turn comes. */
export interface ArchiveFile {
  path: string;
  /** Media are packed already. */
  isCompressed: boolean;
  /** In bytes, where it is known. */
  size?: number;
  open(): AsyncIterable<string | Uint8Array> | Promise<AsyncIterable<string | Uint8Array>>;
}

/** From here on a file needs the ZIP64 form; smaller ones are for every program. */
const ZIP64_BYTES = 2 ** 32 - 1;

/**
 * A ZIP archive as it is made, one file after the other: never as a whole in memory or on a disk.
 *
 * @throws what a file throws, and then the archive is worth nothing.
 */
export async function* createZipStream(
  files: AsyncIterable<ArchiveFile>,
  at: Date,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = new PassThrough();
  const fail = (error: unknown) =>
    void output.destroy(error instanceof Error ? error : new Error(String(error)));
  const open = new AbortController();
  zip.on('error', fail);
  zip.outputStream.on('error', fail).pipe(output);
  addAll(zip, files, { at, signal: open.signal }).catch(fail);
  try {
    for await (const chunk of output) yield chunk;
  } finally {
    // Whoever stops reading ends what is being read for them.
    open.abort();
  }
}

interface Adding {
  at: Date;
  signal: AbortSignal;
}

async function addAll(
  zip: ZipFile,
  files: AsyncIterable<ArchiveFile>,
  { at, signal }: Adding,
): Promise<void> {
  for await (const file of files) {
    const content = addAbortSignal(signal, Readable.from(await file.open()));
    // An error of the content is not passed on by the archive.
    content.on('error', (error) => zip.emit('error', error));
    const { size } = file;
    zip.addReadStream(content, file.path, {
      mtime: at,
      mode: 0o100600,
      compress: file.isCompressed,
      forceZip64Format: size === undefined || size > ZIP64_BYTES,
    });
    // The next one is opened when this one is in.
    await once(content, 'close');
  }
  zip.end();
}
