import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import { RESTREAM_STATUSES } from './rules.ts';

const sequence = Type.Integer({
  minimum: 1,
  description: 'Increases with each event about this restream and its targets.',
});
const fields = {
  restreamId: Type.String(),
  streamId: Type.String(),
  name: Type.String(),
  status: OneOf(RESTREAM_STATUSES),
  targetCount: Type.Integer(),
  sequence,
};
const data = namedSchema('RestreamEventData', Type.Object(fields));
const sample = {
  restreamId: 'rst_01kafe3n4pfx2v9yq6m8d7t5zr',
  streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
  name: 'Everywhere',
  status: 'IDLE' as const,
  targetCount: 2,
};
const targetData = namedSchema(
  'RestreamTargetEventData',
  Type.Object({
    restreamId: Type.String(),
    targetId: Type.String(),
    platform: OneOf(VALUES.restream_target.platform),
    severity: Nullable(OneOf(VALUES.restream_target.error_severity)),
    errorMessage: Nullable(Type.String()),
    retryCount: Type.Integer(),
    sequence,
  }),
);
const targetSample = {
  restreamId: sample.restreamId,
  targetId: 'rtg_01kafe3n4pfx2v9yq6m8d7t5zr',
  platform: 'YOUTUBE' as const,
  severity: null,
  errorMessage: null,
  retryCount: 0,
};

export const restreamCreated = defineEvent({
  type: 'restream.created',
  description: 'A restream was created.',
  data,
  sample: { ...sample, sequence: 1 },
});

export const restreamUpdated = defineEvent({
  type: 'restream.updated',
  description: 'A restream or one of its targets was updated.',
  data: Type.Object({
    ...fields,
    changes: Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
      description: 'Changed fields with old and new values; for keys, only the last characters.',
    }),
  }),
  sample: { ...sample, sequence: 2, changes: { name: { from: 'Both', to: 'Everywhere' } } },
});

export const restreamDeleted = defineEvent({
  type: 'restream.deleted',
  description: 'A restream was deleted, directly or with its stream.',
  data,
  sample: { ...sample, sequence: 9 },
});

export const restreamStarted = defineEvent({
  type: 'restream.started',
  description: 'A restream started: it is sending or waiting for the encoder.',
  data,
  sample: { ...sample, status: 'STARTING', sequence: 3 },
});

export const restreamStopped = defineEvent({
  type: 'restream.stopped',
  description: 'A restream stopped, on request or because the broadcast ended.',
  data,
  sample: { ...sample, sequence: 8 },
});

export const targetConnected = defineEvent({
  type: 'restream.target.connected',
  description: 'A target accepted the broadcast.',
  data: targetData,
  sample: { ...targetSample, sequence: 4 },
});

export const targetDisconnected = defineEvent({
  type: 'restream.target.disconnected',
  description: 'A connected target was disconnected. With severity NORMAL it is retried.',
  data: targetData,
  sample: {
    ...targetSample,
    severity: 'NORMAL',
    errorMessage: 'The destination closed the connection.',
    retryCount: 1,
    sequence: 5,
  },
});

export const targetFailed = defineEvent({
  type: 'restream.target.failed',
  description:
    'A target failed. With severity NORMAL it is retried, and only the first of consecutive failures is sent; with FATAL it requires your action.',
  data: targetData,
  sample: {
    ...targetSample,
    severity: 'FATAL',
    errorMessage: 'The destination rejected the stream key.',
    retryCount: 3,
    sequence: 6,
  },
  notice: {
    severity: 'WARNING',
    words: ({ severity, platform, errorMessage, restreamId: id }) => {
      if (severity !== 'FATAL') return null;
      return {
        title: `Restream failed (${platform})`,
        body: `${errorMessage ?? ''} It is not retried until you update or retry the target.`.trim(),
        resource: { type: 'RESTREAM', id },
      };
    },
  },
});

export const restreamEvents: EventDefinition[] = [
  restreamCreated,
  restreamUpdated,
  restreamDeleted,
  restreamStarted,
  restreamStopped,
  targetConnected,
  targetDisconnected,
  targetFailed,
];
