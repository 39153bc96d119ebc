import Type, { type Static } from 'typebox';
import { requiresRead, requiresWrite } from '../../../../http/access.ts';
import { namedSchema } from '../../../../http/named-schema.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../../http/route.ts';
import { IdParams, Instant, Nullable, OneOf } from '../../../../http/schema.ts';
import { VALUES } from '../../../../platform/db/tables.generated.ts';
import type { AutoCaptions, AutoCaptionsState } from './auto.service.ts';

const AutoCaptionsIn = namedSchema(
  'AutoCaptionsRequest',
  Type.Object({
    language: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 35,
        description: 'BCP 47 tag of the spoken language; detected if omitted.',
      }),
    ),
  }),
  { language: 'en' },
);

const AutoCaptionsOut = namedSchema(
  'AutoCaptions',
  Type.Object({
    isAvailable: Type.Boolean({
      description: 'Whether the platform has a speech engine, so that captions can be requested.',
    }),
    status: Nullable(OneOf(VALUES.video_transcription.status)),
    language: Nullable(Type.String({ description: 'Null until detected.' })),
    error: Nullable(Type.String({ description: 'Why generation failed, if FAILED.' })),
    requestedAt: Nullable(Instant),
    endedAt: Nullable(Instant),
  }),
  {
    isAvailable: true,
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
} as const satisfies RouteOptions;

/** `/videos/{id}/captions/auto` (docs/concepts/videos.md#automatic-captions). */
export function autoCaptionRoutes({ autoCaptions }: { autoCaptions: AutoCaptions }): Route[] {
  return [
    defineRoute({
      ...requiresWrite('videos:write'),
      ...request,
      operationId: 'videos.requestAutoCaptions',
      method: 'POST',
      summary: 'Generate automatic captions',
      description:
        "Uses the platform's speech engine; `video.caption.ready` is sent when the captions are available. Existing manual captions in the same language are not replaced.",
      body: AutoCaptionsIn,
      optionalBody: true,
      reply: { status: 201, schema: AutoCaptionsOut },
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      limits: [{ bucket: 'autoCaptions', per: 'key', max: 60, windowSec: 3600, refusal: 'RATE_LIMITED' }],
      handler: async ({ caller }, { params, body }) =>
        out(await autoCaptions.request(caller.workspaceId, params.id, body.language)),
    }),
    defineRoute({
      ...requiresRead('videos:read'),
      ...request,
      operationId: 'videos.autoCaptions',
      method: 'GET',
      summary: 'Get automatic caption status',
      description: 'Returns the most recent request; `status` is null if there was none.',
      reply: { status: 200, schema: AutoCaptionsOut },
      handler: async ({ caller }, { params }) => out(await autoCaptions.get(caller.workspaceId, params.id)),
    }),
  ];
}

function out({ isAvailable, last }: AutoCaptionsState): Static<typeof AutoCaptionsOut> {
  return {
    isAvailable,
    status: last?.status ?? null,
    language: last?.language ?? null,
    error: last?.error ?? null,
    requestedAt: last?.requested_at.toISOString() ?? null,
    endedAt: last?.ended_at?.toISOString() ?? null,
  };
}
