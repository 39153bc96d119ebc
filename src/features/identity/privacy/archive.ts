import { once } from 'node:events';
import { addAbortSignal, PassThrough, Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** File of an archive; its content is read when its turn comes. */
export interface ArchiveFile {
  path: string;
  /** Whether the content is compressed already, such as media. */
  isCompressed: boolean;
  /** Size in bytes, if known. */
  size?: number;
  open(): AsyncIterable<string | Uint8Array> | Promise<AsyncIterable<string | Uint8Array>>;
}

/** Size limit of the ZIP32 format; larger files need ZIP64, which not every program reads. */
const ZIP64_BYTES = 2 ** 32 - 1;

/**
 * Streams a ZIP archive, one file after the other, never as a whole in memory or on disk.
 *
 * @throws errors of a file, which invalidate the archive.
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
    // Aborts the open source when the reader stops.
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
    // The archive does not forward errors of the content.
    content.on('error', (error) => zip.emit('error', error));
    const { size } = file;
    zip.addReadStream(content, file.path, {
      mtime: at,
      mode: 0o100600,
      compress: file.isCompressed,
      forceZip64Format: size === undefined || size > ZIP64_BYTES,
    });
    // The next file is opened when this one is complete.
    await once(content, 'close');
  }
  zip.end();
}
