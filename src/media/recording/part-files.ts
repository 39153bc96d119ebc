import { lstat, mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../kernel/ids.ts';
import type { Logger } from '../../platform/logger.ts';
import type { BlobInfo, BlobStore, RecordingPart, RecordingPort } from '../contract/index.ts';
import { UnsafeOutputError } from '../ffmpeg/output.ts';
import { trimToFragments } from './fragments.ts';

export interface PartFilesOptions {
  /** Parts are written to `<dir>/<recordingId>/<partId>.mp4`. */
  dir: string;
  nodeId: string;
  port: RecordingPort;
  store: Pick<BlobStore, 'putFile' | 'head'>;
  log: Logger;
}

/** Moves the files of the recorders into the store, despite crashes in between. */
export interface PartFiles {
  /** A new part and where to write it. */
  create(recordingId: string): Promise<{ part: RecordingPart; path: string }>;
  /** Announces a part, in the background. @param hasMedia it contains video: something was recorded. */
  announce(part: RecordingPart, hasMedia: boolean): void;
  /** Stores and announces a part that is no longer written. Retried until it succeeds or `stop`. */
  close(part: RecordingPart): void;
  /** Returns the sizes of the files that recorders write. */
  sizes(): Promise<Map<string, number>>;
  /** Closes what an earlier process has left. */
  recover(): Promise<void>;
  /** Waits briefly for pending work; the next start resumes the rest. */
  stop(): Promise<void>;
}

const RETRY_MS = [200, 500, 1000, 2000, 5000, 10_000, 30_000];
const STOP_WAIT_MS = 5000;
const STILL_MS = 500;
const NAME = /^([a-z0-9_]+)\.mp4$/;

export function createPartFiles(options: PartFilesOptions): PartFiles {
  return new StoredPartFiles(options);
}

class StoredPartFiles implements PartFiles {
  readonly #options: PartFilesOptions;
  readonly #pending = new Set<Promise<void>>();
  readonly #growing = new Map<string, string>();
  readonly #stopping = new AbortController();

  constructor(options: PartFilesOptions) {
    this.#options = options;
  }

  async create(recordingId: string): Promise<{ part: RecordingPart; path: string }> {
    const part = { id: newId('rec'), recordingId };
    const path = this.#pathOf(part);
    await mkdir(dirname(path), { recursive: true });
    // It keeps the folder, which the end of the part before removes when it is empty.
    await writeFile(path, '');
    this.#growing.set(part.id, path);
    return { part, path };
  }

  announce(part: RecordingPart, hasMedia: boolean): void {
    const { port, nodeId, log } = this.#options;
    port.opened(nodeId, part, hasMedia).catch((error: unknown) => {
      // Closing announces it too.
      log.warn({ err: error, part }, 'a part of a recording could not be announced');
    });
  }

  async sizes(): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (const [id, path] of this.#growing) found.set(id, (await sizeOf(path)) ?? 0);
    return found;
  }

  close(part: RecordingPart): void {
    this.#growing.delete(part.id);
    this.#track(this.#closeInTheEnd(part));
  }

  async recover(): Promise<void> {
    const { port, nodeId } = this.#options;
    const parts = new Map<string, RecordingPart>();
    for (const part of await port.openParts(nodeId)) parts.set(part.id, part);
    for (const part of await this.#onDisk()) parts.set(part.id, part);
    for (const part of parts.values()) {
      this.#track(this.#untilStill(this.#pathOf(part)).then(() => this.#closeInTheEnd(part)));
    }
  }

  async stop(): Promise<void> {
    await Promise.race([Promise.all(this.#pending), sleep(STOP_WAIT_MS, undefined, { ref: false })]);
    this.#stopping.abort();
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }

  #pathOf(part: RecordingPart): string {
    return join(this.#options.dir, part.recordingId, `${part.id}.mp4`);
  }

  async #onDisk(): Promise<RecordingPart[]> {
    const found: RecordingPart[] = [];
    for (const folder of await readdir(this.#options.dir).catch(() => [])) {
      for (const file of await readdir(join(this.#options.dir, folder)).catch(() => [])) {
        const id = NAME.exec(file)?.[1];
        if (id !== undefined) found.push({ id, recordingId: folder });
      }
    }
    return found;
  }

  /** Never rejects. */
  async #closeInTheEnd(part: RecordingPart): Promise<void> {
    for (let tries = 0; !this.#stopping.signal.aborted; tries++) {
      try {
        await this.#closeOnce(part);
        return;
      } catch (error) {
        const waitMs = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] ?? 0;
        this.#options.log.error({ err: error, part, waitMs }, 'a part of a recording could not be stored');
        await this.#pause(waitMs);
      }
    }
  }

  async #closeOnce(part: RecordingPart): Promise<void> {
    const { port, nodeId, log } = this.#options;
    const path = this.#pathOf(part);
    const key = await port.opened(nodeId, part, false);
    if (key === null) log.warn({ part }, 'a part arrived too late for its recording and is dropped');
    else await port.closed(part.id, await this.#toStore(path, key));
    await rm(path, { recursive: true, force: true });
    // Fails while other parts are there.
    await rmdir(dirname(path)).catch(() => {});
  }

  /** @returns null when there is nothing to store. */
  async #toStore(path: string, key: string): Promise<BlobInfo | null> {
    const { store, log } = this.#options;
    // The file is missing: an earlier attempt stored it without reporting, or it never existed.
    if ((await sizeOf(path)) === null) return store.head(key);
    try {
      if ((await trimToFragments(path)) === 0) return null;
      return await store.putFile(key, path, 'video/mp4');
    } catch (error) {
      if (!(error instanceof UnsafeOutputError)) throw error;
      log.error({ err: error }, 'a part of a recording is not a file and is dropped');
      return null;
    }
  }

  /** An ffmpeg that has outlived its parent ends with its input; until then its file grows. Never rejects. */
  async #untilStill(path: string): Promise<void> {
    const look = () => sizeOf(path).catch(() => null);
    for (let before = await look(); before !== null; ) {
      await this.#pause(STILL_MS);
      const now = await look();
      if (now === before || this.#stopping.signal.aborted) return;
      before = now;
    }
  }

  /** Ends early when it is to stop. */
  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
