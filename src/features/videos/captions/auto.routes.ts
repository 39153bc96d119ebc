import Type, { type Static } from 'typebox';
import { reads, writes } from '../../../http/access.ts';
import { named } from '../../../http/named.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { IdParams, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { TranscriptionRow } from './auto.repository.ts';
import type { AutoCaptions } from './auto.service.ts';

const AutoCaptionsIn = named(
  'AutoCaptionsRequest',
  Type.Object({
    language: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 35,
        description: 'BCP 47 of what is spoken; found out unless given.',
      }),
    ),
  }),
  { language: 'en' },
);

const AutoCaptionsOut = named(
  'AutoCaptions',
  Type.Object({
    status: OneOf(VALUES.video_transcription.status),
    language: Nullable(Type.String({ description: 'Null until it is known.' })),
    error: Nullable(Type.String({ description: 'Why there are none, where FAILED.' })),
    requestedAt: Instant,
    endedAt: Nullable(Instant),
  }),
  {
    status: 'READY',
    language: 'en',
    error: null,
    requestedAt: '2026-11-20T09:00:00.000Z',
    endedAt: '2026-11-20T09:02:00.000Z',
  },
);

const request = {
  path: '/videos/{id}/captions/auto',
  params: IdParams('vid', 'video'),
} as const;

/** `/videos/{id}/captions/auto` (docs/api/videos.md#automatic-captions). */
export function autoCaptionRoutes({ autoCaptions }: { autoCaptions: AutoCaptions }): Route[] {
  return [
    defineRoute({
      ...writes('videos:write'),
      ...request,
      operationId: 'videos.requestAutoCaptions',
      method: 'POST',
      summary: 'Have captions made of what is spoken',
      description:
        'By the speech engine of the platform; `video.caption.ready` tells when they are there. Captions of your own in the same language stay.',
      body: AutoCaptionsIn,
      optionalBody: true,
      reply: { status: 201, schema: AutoCaptionsOut },
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      limits: [{ bucket: 'autoCaptions', per: 'key', max: 60, windowSec: 3600, refusal: 'RATE_LIMITED' }],
      handler: async ({ caller }, { params, body }) =>
        out(await autoCaptions.request(caller.workspaceId, params.id, body.language)),
    }),
    defineRoute({
      ...reads('videos:read'),
      ...request,
      operationId: 'videos.autoCaptions',
      method: 'GET',
      summary: 'See how far automatic captions are',
      description: 'The last that were asked for; 404 where none were.',
      reply: { status: 200, schema: AutoCaptionsOut },
      handler: async ({ caller }, { params }) => out(await autoCaptions.get(caller.workspaceId, params.id)),
    }),
  ];
}

function out(row: TranscriptionRow): Static<typeof AutoCaptionsOut> {
  const { status, language, error, requested_at: requestedAt, ended_at: endedAt } = row;
  return {
    ...{ status, language, error },
    requestedAt: requestedAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  };
}
