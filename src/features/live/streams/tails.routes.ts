import Type from 'typebox';
import { requiresRead } from '../../../http/access.ts';
import type { EventStreamHandler } from '../../../http/event-stream.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { IdParams } from '../../../http/schema.ts';
import { type Caller, hasPermission } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { FollowOptions, StreamStates, StreamTails } from '../stream-tails/index.ts';
import type { StreamDetails } from './lists.repository.ts';
import { StreamStatus, StreamViewers } from './schemas.ts';
import type { Streams } from './service.ts';
import { statusOf } from './status.ts';

const Id = IdParams('str', 'stream');
const Resume = Type.Object({
  lastEventId: Type.Optional(
    Type.String({ description: 'Alternative for clients that cannot set the header.' }),
  ),
});

interface Deps {
  streams: Streams;
  tails: Pick<StreamTails, 'follow'>;
  states: StreamStates;
  /** Returns the restreams with which the tail of a stream begins; set in module.ts. */
  restreams(streamId: string): Promise<{ event: string; body: object }[]>;
  clock: Clock;
}

type Show = Pick<FollowOptions, 'name' | 'logs' | 'states'>;

const STATUS: Show = { name: 'status', logs: ['STATUS'], states: [] };
const VIEWERS: Show = { name: 'viewers', logs: [], states: ['viewers'] };

/** `/streams/{id}/status`, `/viewers` and `/tail` (docs/concepts/tails.md). */
export function streamTailRoutes(deps: Deps): Route[] {
  const { streams } = deps;
  /** @throws {AppError} NOT_FOUND before the tail opens. */
  const open = async ({ workspaceId }: Caller, id: string, show: Show) =>
    tailOf(deps, await streams.get(workspaceId, id), show);
  const always = (
    name: 'status' | 'viewers',
    schema: typeof StreamStatus | typeof StreamViewers,
    show: Show,
  ) =>
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: `streams.${name}Tail`,
      method: 'GET',
      path: `/streams/{id}/${name}/tail`,
      summary: `Stream ${name} events`,
      description: `Equivalent to \`GET /streams/{id}/${name}\` with \`Accept: text/event-stream\`, for clients that cannot set headers.`,
      params: Id,
      query: Resume,
      reply: { status: 200, schema, envelope: 'events' },
      handler: ({ caller }, { params }) => open(caller, params.id, show),
    });
  return [
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: 'streams.status',
      method: 'GET',
      path: '/streams/{id}/status',
      summary: "Get or stream a stream's status",
      description:
        'Returns JSON, or with `Accept: text/event-stream` the current status followed by every change.',
      params: Id,
      query: Resume,
      reply: { status: 200, schema: StreamStatus, tail: StreamStatus },
      async handler({ caller, acceptsEventStream }, { params }) {
        if (acceptsEventStream) return open(caller, params.id, STATUS);
        return statusNow(deps, await streams.get(caller.workspaceId, params.id));
      },
    }),
    always('status', StreamStatus, STATUS),
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: 'streams.viewers',
      method: 'GET',
      path: '/streams/{id}/viewers',
      summary: 'Get or stream viewer counts',
      description:
        'Returns JSON, or with `Accept: text/event-stream` the current count followed by every change.',
      params: Id,
      query: Resume,
      reply: { status: 200, schema: StreamViewers, tail: StreamViewers },
      async handler({ caller, acceptsEventStream }, { params }) {
        if (acceptsEventStream) return open(caller, params.id, VIEWERS);
        return viewersNow(deps, await streams.get(caller.workspaceId, params.id));
      },
    }),
    always('viewers', StreamViewers, VIEWERS),
    defineRoute({
      ...requiresRead('streams:read'),
      operationId: 'streams.tail',
      method: 'GET',
      path: '/streams/{id}/tail',
      summary: 'Stream all events of a stream',
      description:
        "Server-sent events for status, viewers and health; for chat if the key has `chat:read`; and for restreams if it has `restreams:read`. Counts as one of the key's 25 event streams.",
      params: Id,
      query: Resume,
      reply: { status: 200, schema: StreamStatus, envelope: 'events' },
      handler: ({ caller }, { params }) =>
        open(caller, params.id, {
          name: 'stream',
          logs: [
            'STATUS',
            ...(hasPermission(caller, 'chat:read') ? (['CHAT'] as const) : []),
            ...(hasPermission(caller, 'restreams:read') ? (['RESTREAM'] as const) : []),
          ],
          states: ['viewers', 'health'],
        }),
    }),
  ];
}

function tailOf(deps: Deps, row: StreamDetails, show: Show): EventStreamHandler {
  const { id, workspace_id: workspaceId, created_at: createdAt } = row;
  const snapshot = async () => {
    // Read again, because it must not be older than the first event of the tail.
    const now = await deps.streams.get(workspaceId, id).catch(() => row);
    const restreams = show.logs.includes('RESTREAM') ? await deps.restreams(id) : [];
    return [{ event: 'status', body: statusNow(deps, now) }, ...restreams];
  };
  const options = { streamId: id, createdAt, ...show };
  return (out) => deps.tails.follow(show.logs.includes('STATUS') ? { ...options, snapshot } : options, out);
}

function statusNow({ clock }: Pick<Deps, 'clock'>, row: StreamDetails) {
  return { ...statusOf(row), changed: [], at: clock.now().toISOString() };
}

async function viewersNow({ states, clock }: Pick<Deps, 'states' | 'clock'>, { id }: StreamDetails) {
  const { viewers = { current: 0, peak: 0, unique: 0 } } = (await states([id])).get(id) ?? {};
  return { streamId: id, ...viewers, at: clock.now().toISOString() };
}
