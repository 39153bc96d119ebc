import { type AppendEvent, nextSequence } from '../../events/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import { importCompleted, importFailed } from './events.ts';
import type { ImportRow } from './repository.ts';
import * as repository from './repository.ts';

export interface ImportError {
  code: string;
  message: string;
}

/** Ends an import under the caller's lock of it: `import.completed`, or `import.failed` with an error. */
export async function endImport(
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
