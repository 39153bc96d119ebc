import { type AppendEvent, nextSequence } from '../../../events/index.ts';
import type { JobQueue } from '../../../jobs/job.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { importCompleted, importFailed } from './events.ts';
import { importJob } from './jobs.ts';
import type { ImportRow } from './repository.ts';
import * as repository from './repository.ts';

export interface ImportError {
  code: string;
  message: string;
}

/** Cancels an import that the caller has locked. The run in progress removes the bytes received. */
export async function cancelImport(
  { jobs, clock }: { jobs: Pick<JobQueue, 'cancel'>; clock: Clock },
  tx: Tx,
  id: string,
): Promise<ImportRow> {
  const row = await repository.updateImport(tx, id, { status: 'CANCELED', completed_at: clock.now() });
  await jobs.cancel(tx, importJob, id);
  return row;
}

/** Ends an import under the caller's lock of it: `import.completed`, or `import.failed` with an error. */
export async function finishImport(
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
  await append(error === null ? importCompleted : importFailed, row.workspace_id, {
    importId: row.id,
    videoId: row.video_id,
    provider: row.provider,
    error,
    sequence: await nextSequence(tx, 'import', row.id),
  });
}
