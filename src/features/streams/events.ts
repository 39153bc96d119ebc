import Type from 'typebox';
import { defineEvent } from '../../events/catalogue.ts';
import { Instant, Nullable, OneOf } from '../../http/schema.ts';

const streamId = Type.String();
const SAMPLE_ID = 'str_01kafe3n4pfx2v9yq6m8d7t5zr';

/** The four events of a broadcast, with exactly the payloads of contract 6.5. */
export const streamEvents = [
  defineEvent({
    type: 'stream.live',
    description: 'An encoder has connected and a signal is there; not yet a broadcast to viewers.',
    data: Type.Object({ streamId, status: OneOf(['HAS_SIGNAL', 'ACTIVE'] as const), wentLiveAt: Instant }),
    sample: { streamId: SAMPLE_ID, status: 'HAS_SIGNAL', wentLiveAt: '2026-11-20T09:00:00.000Z' },
  }),
  defineEvent({
    type: 'stream.ended',
    description: 'The signal of the encoder is lost.',
    data: Type.Object({ streamId, endedAt: Instant, durationSec: Type.Null() }),
    sample: { streamId: SAMPLE_ID, endedAt: '2026-11-20T10:00:05.000Z', durationSec: null },
  }),
  defineEvent({
    type: 'stream.broadcast_started',
    description: 'The broadcast is live to viewers. At most once per stream and minute.',
    data: Type.Object({ streamId, isLive: Type.Literal(true), startedAt: Nullable(Instant) }),
    sample: { streamId: SAMPLE_ID, isLive: true, startedAt: '2026-11-20T09:00:10.000Z' },
  }),
  defineEvent({
    type: 'stream.broadcast_stopped',
    description: 'The broadcast was stopped by its creator. At most once per stream and minute.',
    data: Type.Object({
      streamId,
      isLive: Type.Literal(false),
      endedAt: Instant,
      durationSec: Nullable(Type.Integer()),
    }),
    sample: {
      streamId: SAMPLE_ID,
      isLive: false,
      endedAt: '2026-11-20T10:00:00.000Z',
      durationSec: 3590,
    },
  }),
];
