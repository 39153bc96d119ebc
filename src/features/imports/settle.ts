import type { AppendEvent, EventConsumer } from '../../events/index.ts';
import type { JobQueue } from '../../jobs/job.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Tx } from '../../platform/db/index.ts';
import { importJob } from './jobs.ts';
import type { ImportRow } from './repository.ts';
import * as repository from './repository.ts';
import { isTerminal } from './rules.ts';

export interface ImportError {
  code: string;
  message: string;
}

/** Ends an import under the caller's lock of it: `import.completed`, or `import.failed` with an error. */
export async function end(
  tx: Tx,
  append: AppendEvent,
  row: ImportRow,
  ending: { at: Date; error: ImportError | null },
): Promise<void> {
  const { at, error } = ending;
  await repository.updateImport(tx, row.id, {
    status: error === null ? 'COMPLETED' : 'FAILED',
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    completed_at: at,
  });
  await append({
    workspaceId: row.workspace_id,
    type: error === null ? 'import.completed' : 'import.failed',
    data: {
      importId: row.id,
      videoId: row.video_id,
      provider: row.provider,
      error,
      sequence: await repository.nextSequence(tx, row.id),
    },
  });
}

interface Deps {
  jobs: Pick<JobQueue, 'cancel'>;
  clock: Clock;
}

/** An import ends with its video, in the transaction that tells of the video. */
export function createImportSettler({ jobs, clock }: Deps): EventConsumer {
  return async (tx, { type, data }, append) => {
    if (!TYPES.has(type)) return;
    const row = await repository.lockImportOf(tx, String(Reflect.get(data, 'videoId')));
    if (row === undefined) return;
    const at = clock.now();
    if (type === 'video.processing.completed') {
      // One whose processing was retried had failed before.
      if (row.status === 'PROCESSING' || row.status === 'FAILED')
        await end(tx, append, row, { at, error: null });
    } else if (isTerminal(row.status)) {
      return;
    } else if (type === 'video.processing.failed') {
      await end(tx, append, row, { at, error: errorOf(data) });
    } else {
      await repository.updateImport(tx, row.id, { status: 'CANCELED', completed_at: at });
      await jobs.cancel(tx, importJob, row.id);
    }
  };
}

const TYPES: ReadonlySet<string> = new Set([
  'video.processing.completed',
  'video.processing.failed',
  'video.deleted',
]);

function errorOf(data: object): ImportError {
  const error: unknown = Reflect.get(data, 'error');
  const read = (name: string) => String(Reflect.get(Object(error), name));
  return { code: read('code'), message: read('message') };
}
