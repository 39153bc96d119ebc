import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

const data = namedSchema(
  'BridgeEventData',
  Type.Object({
    bridgeId: Type.String(),
    type: OneOf(VALUES.bridge.type),
    sourceId: Nullable(Type.String()),
    targetId: Type.String(),
    status: OneOf(VALUES.bridge.status),
    error: Nullable(Type.String()),
    endReason: Nullable(OneOf(VALUES.bridge.end_reason)),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this bridge.' }),
  }),
);
const sample = {
  bridgeId: 'brg_01kafe3n4pfx2v9yq6m8d7t5zr',
  type: 'PULL_TO_STREAM' as const,
  sourceId: null,
  targetId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
  error: null,
  endReason: null,
};

export const bridgeConnected = defineEvent({
  type: 'bridge.connected',
  description: 'A bridge is transferring media from its source to its target.',
  data,
  sample: { ...sample, status: 'ACTIVE', sequence: 1 },
});

export const bridgeFailed = defineEvent({
  type: 'bridge.failed',
  description:
    'A bridge failed. With status PENDING it is retried, and only the first of consecutive failures is sent; with FAILED it is not retried.',
  data,
  sample: {
    ...sample,
    status: 'FAILED',
    error: 'The source returned status 404.',
    sequence: 2,
  },
  notice: {
    severity: 'WARNING',
    words: ({ status, error, bridgeId: id }) => {
      if (status !== 'FAILED') return null;
      return {
        title: 'Bridge failed',
        body: `${error ?? ''} It is not retried: create a new bridge when the source is available.`.trim(),
        resource: { type: 'BRIDGE', id },
      };
    },
  },
});

export const bridgeStopped = defineEvent({
  type: 'bridge.stopped',
  description: 'A bridge was stopped; `endReason` gives the reason.',
  data,
  sample: { ...sample, status: 'STOPPED', endReason: 'SOURCE_ENDED', sequence: 3 },
});

export const bridgeEvents: EventDefinition[] = [bridgeConnected, bridgeFailed, bridgeStopped];
