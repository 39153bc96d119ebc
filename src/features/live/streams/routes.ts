import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaList, Deleted, IdParams, parseList } from '../../../http/schema.ts';
import { type Caller, mayWrite } from '../../../kernel/access.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VISIBILITIES } from '../../../kernel/visibility.ts';
import { StreamHealthHour, toHealthHour } from './health.schemas.ts';
import type { HealthSeries } from './health.service.ts';
import type { StreamDetails } from './lists.repository.ts';
import {
  SimulateSignalIn,
  Stream,
  StreamIn,
  type StreamLinks,
  StreamPatch,
  StreamSession,
  toSession,
  toStream,
} from './schemas.ts';
import type { Streams } from './service.ts';
import type { SignalSimulations } from './simulation.service.ts';

const Id = IdParams('str', 'stream');

interface Deps {
  streams: Streams;
  simulations: SignalSimulations;
  healthSeries: Pick<HealthSeries, 'read'>;
  links: StreamLinks;
  cursors: CursorCodec;
}

const START = {
  summary: 'Start a broadcast',
  description:
    "Sets `isLive`, with or without a signal; viewers can watch from now on. Idempotent. Returns 403 when the plan's concurrent broadcast limit is reached and 409 when the stream is disabled.",
};
const STOP = {
  summary: 'Stop a broadcast',
  description:
    'Clears `isLive`: the master playlist returns 404 immediately, and current viewers receive the remaining media for up to 15 seconds. The encoder stays connected. `stop` and `end` are equivalent.',
};

/** `/streams` (docs/concepts/streams.md#states). */
export function streamRoutes({ streams, simulations, healthSeries, links, cursors }: Deps): Route[] {
  const out = (caller: Caller, row: StreamDetails, streamKey: string | null = null) =>
    toStream(row, { mode: caller.mode, links, streamKey });
  const action = (
    name: 'start' | 'stop' | 'end',
    { summary, description }: { summary: string; description: string },
    run: (workspaceId: string, id: string) => Promise<StreamDetails>,
  ) =>
    defineRoute({
      ...requiresWrite('streams:write'),
      operationId: `streams.${name}`,
      method: 'POST',
      path: `/streams/{id}/${name}`,
      summary,
      description,
      params: Id,
      reply: { status: 200, schema: Stream },
      errors: name === 'start' ? ['QUOTA_EXCEEDED', 'CONFLICT'] : [],
      handler: async ({ caller }, { params }) => out(caller, await run(caller.workspaceId, params.id)),
    });

  return [
    defineRoute({
      ...requiresWrite('streams:write'),
      operationId: 'streams.create',
      method: 'POST',
      path: '/streams',
      summary: 'Create a stream',
      description:
        'Returns the `streamKey`; encoders publish to `ingest.rtmpUrl`, a slash and the key. PUBLIC by default. Not watchable before `start`.',
      idempotent: true,
      body: StreamIn,
      reply: { status: 201, schema: Stream },
      async handler({ caller }, { body }) {
        const { row, streamKey } = await streams.create(caller.workspaceId, body);
        return out(caller, row, streamKey);
      },
    }),
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: 'streams.list',
      method: 'GET',
      path: '/streams',
      summary: 'List streams',
      description: '`streamKey` is null in lists.',
      query: listQuery({
        isLive: Type.Optional(Type.Boolean({ description: 'Omit for both.' })),
        hasSignal: Type.Optional(Type.Boolean({ description: 'Omit for both.' })),
        visibility: CommaList(VISIBILITIES),
      }),
      reply: { status: 200, schema: Stream, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `streams:${caller.workspaceId}`, query);
        const visibility = parseList('visibility', VISIBILITIES, query.visibility);
        const { isLive, hasSignal } = query;
        // Only the filters, so that lists without filters are planned once.
        const filter = { isLive, hasSignal, visibility };
        const rows = await streams.list(caller.workspaceId, filter, list.request);
        return list.page(rows, (row) => out(caller, row));
      },
    }),
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: 'streams.get',
      method: 'GET',
      path: '/streams/{id}',
      summary: 'Get a stream',
      description:
        'Includes both flags, signal health and the viewer count. `streamKey` is included for keys with write access to streams.',
      params: Id,
      reply: { status: 200, schema: Stream },
      async handler({ caller }, { params }) {
        const row = await streams.get(caller.workspaceId, params.id);
        return out(caller, row, mayWrite(caller, 'streams:write') ? streams.keyOf(row) : null);
      },
    }),
    defineRoute({
      ...requiresWrite('streams:write'),
      operationId: 'streams.update',
      method: 'PATCH',
      path: '/streams/{id}',
      summary: 'Update a stream',
      description:
        'Omitted fields are unchanged; null clears nullable fields. `hasSignal` and `isLive` cannot be set.',
      params: Id,
      body: StreamPatch,
      reply: { status: 200, schema: Stream },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        out(caller, await streams.update(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...requiresWrite('streams:write'),
      operationId: 'streams.delete',
      method: 'DELETE',
      path: '/streams/{id}',
      summary: 'Delete a stream',
      description: 'Disconnects the encoder. Returns 409 while the stream is live.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      errors: ['CONFLICT'],
      async handler({ caller }, { params }) {
        await streams.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
    action('start', START, streams.start),
    action('stop', STOP, streams.stop),
    action('end', STOP, streams.stop),
    defineRoute({
      ...requiresWrite('streams:write'),
      operationId: 'streams.rotateKey',
      method: 'POST',
      path: '/streams/{id}/rotate-key',
      summary: 'Rotate the stream key',
      description: 'The old key stops working immediately and its publisher is disconnected.',
      params: Id,
      reply: { status: 200, schema: Stream },
      async handler({ caller }, { params }) {
        const { row, streamKey } = await streams.rotateKey(caller.workspaceId, params.id);
        return out(caller, row, streamKey);
      },
    }),
    defineRoute({
      ...requiresWrite('streams:write'),
      operationId: 'streams.simulateSignal',
      method: 'POST',
      path: '/streams/{id}/simulate-signal',
      summary: 'Simulate a signal (test mode)',
      description:
        'Publishes a moving test pattern and tone to the real ingest, so flags, events, preview and playback behave as with a real encoder. Ends after `seconds`, or when the stream is disabled, deleted or taken over by another encoder. At most two at a time. Test mode only.',
      onlyMode: 'test',
      params: Id,
      body: SimulateSignalIn,
      reply: { status: 200, schema: Stream },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
      handler: async ({ caller }, { params, body }) =>
        out(caller, await simulations.set(caller.workspaceId, params.id, body)),
    }),
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: 'streams.health',
      method: 'GET',
      path: '/streams/{id}/health',
      summary: 'Get signal health',
      description:
        'Returns the current issues with a remedy for each, and measurements for the last hour. Periods without a signal or measurement have no data points.',
      params: Id,
      reply: { status: 200, schema: StreamHealthHour },
      handler: async ({ caller }, { params }) =>
        toHealthHour(await healthSeries.read(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: 'streams.sessions',
      method: 'GET',
      path: '/streams/{id}/sessions',
      summary: 'List stream sessions',
      description:
        'A session is one continuous period with a signal; gaps within `reconnectWindowSec` do not end it. `error` is the reason a session ended or was not recorded.',
      params: Id,
      query: listQuery({}),
      reply: { status: 200, schema: StreamSession, list: true },
      async handler({ caller }, { params, query }) {
        const list = new ListReader(cursors, `sessions:${caller.workspaceId}:${params.id}`, query);
        const rows = await streams.sessions(caller.workspaceId, params.id, list.request);
        return list.page(rows, toSession);
      },
    }),
  ];
}
