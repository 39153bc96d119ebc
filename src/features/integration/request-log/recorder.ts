import type { CompletedRequest } from '../../../http/ports.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { BatchWriter } from '../../../platform/batch-writer.ts';
import type { Logger } from '../../../platform/logger.ts';
import { Sampler } from './rules.ts';

const PAUSE_MS = 1000;
const BATCH = 500;
/** Maximum rows, some 2 MB, buffered while the database is slow or unavailable. */
const MAX_WAITING = 5000;

/** One row to be. */
export interface RecordedRequest extends CompletedRequest {
  id: string;
  at: Date;
}

/**
 * Records requests in the background and writes them in batches (docs/decisions/request-log.md): the first
 * immediately, later ones after a second, or as soon as there are 500.
 */
export interface Recorder {
  /** Never waits and never fails: what there is no room for is counted and dropped. */
  note(request: CompletedRequest): void;
  /** Writes pending rows, for at most 5 seconds. */
  close(): Promise<void>;
}

interface Deps {
  /** May be repeated with the same rows after a lost connection. */
  write(rows: readonly RecordedRequest[]): Promise<void>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** Hook called with the number of rows that were dropped. */
  onRowsDropped(count: number): void;
}

export function createRecorder(deps: Deps): Recorder {
  const { clock } = deps;
  const sampler = new Sampler();
  const buffer = new BatchWriter({
    ...deps,
    batch: BATCH,
    maxQueuedRows: MAX_WAITING,
    pauseMs: PAUSE_MS,
    warning: 'the request log could not be written',
  });
  return {
    note(request) {
      const group = request.keyId ?? request.workspaceId;
      if (!sampler.admits(group, request.status >= 400, clock.ms())) return;
      buffer.add({ ...request, id: newId('req', clock), at: clock.now() });
    },
    close: () => buffer.close(),
  };
}
