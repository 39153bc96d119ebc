import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type DiskSpace, isDiskError } from '../../../platform/disk.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { BlobStore, RoomRecordingPort } from '../../contract/index.ts';
import type { RoomMirror } from '../livekit/mirror.ts';
import { JanusClient, type JanusHandle } from './client.ts';
import { readLink } from './link-file.ts';
import { beginRecording, endRecording } from './recording.ts';
import { RECORDINGS_FOLDER } from './settings.ts';

export interface JanusRecorderOptions {
  port: RoomRecordingPort;
  store: Pick<BlobStore, 'putFile' | 'list'>;
  /**
   * Nothing is recorded while either disk is full: the store's, and that of the folder that Janus writes to.
   */
  disk: Pick<DiskSpace, 'isThere'>;
  diskOf(folder: string): Pick<DiskSpace, 'isThere'>;
  nodeId: string;
  /** File with the connection data of Janus. */
  linkFile: string;
  /** Mirror of rooms of another engine into Janus. */
  mirror?: RoomMirror | null;
  log: Logger;
}

/**
 * Recorder of rooms in Janus: records the desired rooms, and moves the files into the store after a recording
 * has ended. After a crash, the next run continues with the files on the disk.
 */
export interface JanusRecorder {
  /** Fetches the desired recordings and applies them. Never rejects. */
  sync(): Promise<void>;
  stop(): Promise<void>;
}

/** Interval of repeated requests: recreated rooms in Janus are not recorded. */
const REPEAT_MS = 3000;
/** Time Janus needs to close its files after recording has stopped. */
const CLOSING_MS = 1000;
/** Pause after the store's disk was full. */
const FULL_DISK_PAUSE_MS = 30_000;
/** Names of recorded files; LiveKit opens a data channel with each connection. */
const NAME = /^[\w-]+-(?:audio|video)-\d+\.mjr$/;
const RECORDING = /^rec_\w+$/;

interface Running {
  roomId: string;
  /** Time of the last request to Janus; `performance.now()`. */
  toldAt: number;
  /** Process ID of the Janus that records it; a restarted one does not know of it. */
  pid: number;
}

export function createJanusRecorder(options: JanusRecorderOptions): JanusRecorder {
  return new FolderRecorder(options);
}

class FolderRecorder implements JanusRecorder {
  readonly #options: JanusRecorderOptions;
  readonly #running = new Map<string, Running>();
  /** Times since which recordings are no longer written to. */
  readonly #ended = new Map<string, number>();
  /** Folder that Janus writes to, with a subfolder for each recording; null before it has run. */
  #folder: string | null = null;
  #disk: { folder: string; room: Pick<DiskSpace, 'isThere'> } | null = null;
  #session: { client: JanusClient; desk: JanusHandle; pid: number } | null = null;
  #work: Promise<void> | null = null;

  constructor(options: JanusRecorderOptions) {
    this.#options = options;
  }

  sync(): Promise<void> {
    this.#work ??= this.#look()
      .catch((error: unknown) => {
        this.#options.log.warn({ err: error }, 'recordings of rooms could not be updated');
      })
      .finally(() => {
        this.#work = null;
      });
    return this.#work;
  }

  async stop(): Promise<void> {
    await this.#work;
    await this.#options.mirror?.stop();
    this.#session?.client.close();
  }

  async #look(): Promise<void> {
    const { port, nodeId, disk } = this.#options;
    await this.#reach();
    if (this.#folder === null) return;
    const sizes = await this.#sizes(this.#folder);
    const { open, ended } = await port.wanted(nodeId, sizes);
    const hasDisk = (await disk.isThere()) && (await this.#ownDisk(this.#folder).isThere());
    const wanted = new Map(hasDisk ? open.map((one) => [one.recordingId, one.roomId]) : []);
    if (!hasDisk) for (const { recordingId } of open) await port.refused(recordingId);
    for (const [recordingId, running] of this.#running) {
      if (!wanted.has(recordingId)) await this.#end(recordingId, running);
    }
    await this.#options.mirror?.show(new Set(wanted.values()));
    for (const [recordingId, roomId] of wanted) await this.#begin(recordingId, roomId);
    for (const recordingId of new Set([...ended, ...sizes.keys()])) {
      if (wanted.has(recordingId)) continue;
      await this.#handOver(recordingId, join(this.#folder, recordingId)).catch((error: unknown) => {
        this.#options.log.warn({ err: error, recordingId }, 'a recording of a room could not be stored yet');
        if (isDiskError(error)) this.#ended.set(recordingId, performance.now() + FULL_DISK_PAUSE_MS);
      });
    }
  }

  #ownDisk(folder: string): Pick<DiskSpace, 'isThere'> {
    if (this.#disk?.folder !== folder) this.#disk = { folder, room: this.#options.diskOf(folder) };
    return this.#disk.room;
  }

  async #begin(recordingId: string, roomId: string): Promise<void> {
    const session = await this.#reach();
    if (session === null) return;
    const known = this.#running.get(recordingId);
    const now = performance.now();
    if (known?.pid === session.pid && now - known.toldAt < REPEAT_MS) return;
    try {
      await beginRecording(session.desk, roomId, recordingId);
      this.#running.set(recordingId, { roomId, toldAt: now, pid: session.pid });
    } catch (error) {
      // The room may not exist yet: the first connection creates it.
      this.#options.log.debug({ err: error, roomId }, 'a room is not recorded yet');
    }
  }

  async #end(recordingId: string, { roomId }: Running): Promise<void> {
    this.#running.delete(recordingId);
    const session = await this.#reach();
    if (session === null) return;
    await endRecording(session.desk, roomId).catch((error: unknown) => {
      this.#options.log.debug({ err: error, roomId }, 'the room ended before its recording');
    });
  }

  /** Stores the files of a recording once they are closed. */
  async #handOver(recordingId: string, path: string): Promise<void> {
    const { port, store, log } = this.#options;
    const since = this.#ended.get(recordingId);
    if (since === undefined) this.#ended.set(recordingId, performance.now());
    if (since === undefined || performance.now() - since < CLOSING_MS) return;
    const prefix = await port.prefixOf(recordingId);
    if (prefix === null) log.warn({ recordingId }, 'an unknown recording of a room is deleted');
    else {
      for (const name of await tracksIn(path)) {
        await store.putFile(`${prefix}${name}`, join(path, name), 'application/octet-stream');
      }
      const files: { key: string; sizeBytes: number }[] = [];
      for await (const { key, sizeBytes } of store.list(prefix)) files.push({ key, sizeBytes });
      await port.collected(recordingId, files);
    }
    await rm(path, { recursive: true, force: true });
    this.#ended.delete(recordingId);
  }

  async #sizes(folder: string): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for (const recordingId of await readdir(folder).catch(() => [])) {
      if (!RECORDING.test(recordingId)) continue;
      let bytes = 0;
      for (const name of await tracksIn(join(folder, recordingId))) {
        const found = await stat(join(folder, recordingId, name)).catch(() => null);
        bytes += found?.size ?? 0;
      }
      sizes.set(recordingId, bytes);
    }
    return sizes;
  }

  /** Connects to Janus; null while it does not run. */
  async #reach() {
    if (this.#session !== null) return this.#session;
    const link = await readLink(this.#options.linkFile);
    if (link === null) return null;
    this.#folder = join(link.folder, RECORDINGS_FOLDER);
    try {
      const client = await JanusClient.connect(link);
      const desk = await client.attach({ onEvent() {}, onTrickle() {}, onPeer() {}, onDetached() {} });
      this.#session = { client, desk, pid: link.pid };
      client.onClose(() => {
        this.#session = null;
      });
      return this.#session;
    } catch (error) {
      this.#options.log.debug({ err: error }, 'Janus cannot be reached');
      return null;
    }
  }
}

async function tracksIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => NAME.test(name));
}
