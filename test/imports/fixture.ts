import { type JobWorkers, startJobWorkers } from '../../src/jobs/worker.ts';
import { startTestApp } from '../harness/app.ts';
import { jobWorker } from '../harness/modules.ts';
import { waitFor } from '../harness/wait-for.ts';
import { file, type Source, startSource } from './source.ts';

export type ImportFixture = Awaited<ReturnType<typeof startImportFixture>>;

/** Starts the application, a worker that only runs imports, and a file server. */
export async function startImportFixture(env: Record<string, string> = {}) {
  const app = await startTestApp({ env: { FETCH_ALLOW_PRIVATE: '127.0.0.0/8', ...env } });
  const source: Source = await startSource();
  let workers: JobWorkers | null = null;
  const { container } = app;
  return {
    app,
    source,
    work() {
      workers = startJobWorkers({ ...container, workers: [jobWorker(container, 'import.fetch')] });
    },
    async rest() {
      await workers?.stop();
      workers = null;
    },
    /** Jobs that wait for their next try need not wait. */
    hurry: () => container.sql`update job set run_after = now() where state = 'waiting' and fence > 0`,
    /** Serves a file at this path. @returns its URL. */
    served(path: string, ...options: Parameters<typeof file>): string {
      source.answers.set(path, file(...options));
      return source.url + path;
    },
    /** Returns the used storage of the workspace, in bytes. */
    async used(workspaceId: string): Promise<number> {
      const query = container.db
        .selectFrom('workspace')
        .select('storage_bytes')
        .where('id', '=', workspaceId);
      return (await query.executeTakeFirstOrThrow()).storage_bytes;
    },
    create: async (key: string, input: object) =>
      (await app.request('POST', '/imports', { key, body: input })).assertOk(201).string('data.id'),
    /** The import once it has one of these statuses. */
    reached: (key: string, id: string, ...statuses: string[]) =>
      waitFor(
        async () => {
          const answer = (await app.request('GET', `/imports/${id}`, { key })).assertOk(200);
          return statuses.includes(answer.string('data.status')) && answer;
        },
        { timeoutMs: 15_000, intervalMs: 30, message: `an import that is ${statuses.join(' or ')}` },
      ),
    async video(key: string, id: string) {
      const { video_id: videoId } = await container.db
        .selectFrom('import')
        .select('video_id')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      return (await app.request('GET', `/videos/${videoId}`, { key })).assertOk(200);
    },
    /** Returns the stored original of the import's video. */
    async original(id: string): Promise<Buffer | null> {
      const row = await container.db
        .selectFrom('import')
        .innerJoin('video', 'video.id', 'import.video_id')
        .select('video.original_key')
        .where('import.id', '=', id)
        .executeTakeFirstOrThrow();
      return row.original_key === null ? null : container.store.read(row.original_key);
    },
    async close() {
      await workers?.stop();
      await source.close();
      await app.close();
    },
  };
}

/** Starts the fixture with its worker, and an account on the plan FREE with a key of its live workspace. */
export async function startFreeImports() {
  const fixture = await startImportFixture();
  const account = await fixture.app.createAccount({ plan: 'FREE' });
  const { key } = await fixture.app.createKey({ account });
  fixture.work();
  return { fixture, key, workspaceId: account.live };
}
