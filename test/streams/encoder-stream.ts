import type { IngestEndReason, IngestSession } from '../../src/media/contract/index.ts';
import type { TestApp } from '../harness/app.ts';
import { ingestSession, streamEvents } from '../harness/factories.ts';

/** Creates a stream, and returns actions of its encoder and its creator. */
export async function createEncoderStream(app: TestApp, key: string, settings: object = {}) {
  const { signals } = app.container;
  const created = await app.request('POST', '/streams', { key, body: { title: 'x', ...settings } });
  const id = created.assertOk(201).string('data.id');
  const read = async (field: string) =>
    (await app.request('GET', `/streams/${id}`, { key })).at(`data.${field}`);
  return {
    id,
    read,
    flags: async () => [await read('hasSignal'), await read('isLive')],
    act: async (verb: string) => (await app.request('POST', `/streams/${id}/${verb}`, { key })).assertOk(200),
    async connect(options: Partial<IngestSession> = {}) {
      const session = ingestSession(id, options);
      await signals.publishStarted(session);
      return session;
    },
    end: ({ sessionId }: IngestSession, reason: IngestEndReason) =>
      signals.publishEnded({ sessionId, streamId: id, reason, bytes: 0 }),
    types: async () =>
      (await streamEvents(app.container.sql, id)).map(({ type }) => type.replace('stream.', '')),
    sessions: async () => (await app.request('GET', `/streams/${id}/sessions`, { key })).assertOk(200),
  };
}
