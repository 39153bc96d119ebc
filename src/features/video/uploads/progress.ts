import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { ContentDigest, PartialState } from '../../../media/contract/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { GrowingReservation } from '../videos/index.ts';
import type { EndingDeps } from './completion.service.ts';
import type { UploadRow } from './repository.ts';
import * as repository from './repository.ts';
import type { RequestBody } from './request-body.ts';
import * as rules from './rules.ts';
import { heldBy, stored } from './state.ts';
import type { Writer } from './writers.ts';

const RENEW_MS = 2000;

/** Bytes of one request and their properties. */
export interface UploadPart {
  protocol: 'TUS' | 'PUT';
  /** Position of the bytes in the file; null starts the file over. */
  offset: number | null;
  /** Size of the whole file, when the request states it. */
  totalBytes: number | null;
  /** Size of this part; null when the request does not state it. */
  pieceBytes: number | null;
  digest: ContentDigest | null;
  body: RequestBody;
}

/** Part with its writer. */
export interface PartWriter extends UploadPart {
  writer: Writer;
  lease: string;
}

export function busy(): AppError {
  return new AppError('CONFLICT', { message: 'Another request is writing to this upload.' });
}

/** @throws {AppError} CONFLICT when the writer has lost its lease. */
export function assertHoldsLease(row: UploadRow | undefined): UploadRow {
  if (row === undefined) throw busy();
  return row;
}

/**
 * Writes down how far the writer is, which renews its lease; one statement at a time, the latest state wins. What
 * has no length yet is reserved before it is written.
 */
export class Progress {
  /** Error that ended the transfer. */
  refusal: AppError | null = null;
  readonly #deps: EndingDeps;
  readonly #row: UploadRow;
  readonly #writing: PartWriter;
  /** Null where the whole length is reserved. */
  readonly #ahead: GrowingReservation | null;
  #next: PartialState | null = null;
  #saving: Promise<void> | null = null;
  #admitted = 0;

  constructor(deps: EndingDeps, row: UploadRow, writing: PartWriter) {
    this.#deps = deps;
    this.#row = row;
    this.#writing = writing;
    const { hold } = deps.intake;
    this.#ahead =
      row.size_bytes === null
        ? hold.ahead((bytes) => this.#hold((tx, video) => hold.reserve(tx, video, bytes)))
        : null;
  }

  /** @param bytes size of the file after this request, before the first byte of it. */
  async announce(bytes: number): Promise<void> {
    await this.#ahead?.cover(bytes, { exactly: true });
    await this.#deps.disk.admit(this.#writing.pieceBytes ?? 0);
  }

  /** Reports whether the file may grow to `bytes`. Called before they are written. */
  async admits(bytes: number): Promise<boolean> {
    if (this.refusal !== null) return false;
    try {
      await this.#ahead?.cover(bytes);
      // A part with a checksum is stored in a file of its own before it is appended.
      const copies = this.#writing.digest === null ? 1 : 2;
      await this.#deps.disk.admit((bytes - this.#admitted) * copies);
      this.#admitted = bytes;
    } catch (error) {
      this.#stop(error);
      return false;
    }
    return true;
  }

  save(state: PartialState): void {
    this.#next = state;
    this.#saving ??= this.#run().finally(() => {
      this.#saving = null;
    });
  }

  async #run(): Promise<void> {
    while (this.#next !== null) {
      const state = this.#next;
      this.#next = null;
      try {
        await this.#write(this.#deps.db, state);
      } catch (error) {
        this.#stop(error);
      }
    }
  }

  #stop(error: unknown): void {
    if (error instanceof AppError) this.refusal ??= error;
    // This process no longer knows which writer holds the lease.
    if (!(error instanceof AppError) || error.code === 'CONFLICT') this.#writing.body.abort();
  }

  async #write(db: Db, state: PartialState, change: repository.UploadChange = {}): Promise<UploadRow> {
    const saved = await repository.recordProgress(db, this.#row.id, this.#writing.lease, {
      ...stored(state),
      ...(state.sizeBytes > 0 ? { status: 'UPLOADING' } : {}),
      expires_at: dateFromMs(this.#deps.clock.ms() + rules.EXPIRES_MS),
      ...change,
    });
    return assertHoldsLease(saved);
  }

  /**
   * Changes the storage of the video while the writer holds the lease: a session that has ended reserves
   * nothing more.
   */
  async #hold(work: (tx: Tx, video: ReturnType<typeof heldBy>) => Promise<void>): Promise<void> {
    const { id, workspace_id: workspaceId } = this.#row;
    const { events, intake } = this.#deps;
    const change = () =>
      events.transaction(async (tx) => {
        await work(tx, heldBy(this.#row));
        assertHoldsLease(await repository.recordProgress(tx, id, this.#writing.lease, {}));
      });
    await intake.hold.makingRoom(workspaceId, change);
  }

  /** Renews the lease while `work` runs. */
  async during<T>(work: Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      this.renew().catch((error: unknown) => this.#stop(error));
    }, RENEW_MS);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }

  /** Checks whether the writer still holds the lease. */
  async renew(): Promise<void> {
    assertHoldsLease(await repository.recordProgress(this.#deps.db, this.#row.id, this.#writing.lease, {}));
  }

  /** Stores the final state, releases the lease and any reserved bytes that did not arrive. */
  async end(state: PartialState): Promise<UploadRow> {
    await this.#saving;
    if (this.#ahead !== null) {
      const { hold } = this.#deps.intake;
      await this.#hold((tx, video) => hold.adjust(tx, video, state.sizeBytes));
    }
    return this.#write(this.#deps.db, state, { writer: null });
  }
}
