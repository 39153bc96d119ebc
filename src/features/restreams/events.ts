import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';
import { named } from '../../http/named.ts';
import { Nullable, OneOf } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import { RESTREAM_STATUSES } from './rules.ts';

const sequence = Type.Integer({
  minimum: 1,
  description: 'Counts the events about this restream and its targets.',
});
const fields = {
  restreamId: Type.String(),
  streamId: Type.String(),
  name: Type.String(),
  status: OneOf(RESTREAM_STATUSES),
  targetCount: Type.Integer(),
  sequence,
};
const data = named('RestreamEventData', Type.Object(fields));
const sample = {
  restreamId: 'rst_01kafe3n4pfx2v9yq6m8d7t5zr',
  streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
  name: 'Everywhere',
  status: 'IDLE' as const,
  targetCount: 2,
};
const targetData = named(
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
  description: 'A restream or one of its targets was changed.',
  data: Type.Object({
    ...fields,
    changes: Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
      description: 'Each changed field with its old and its new value; of a key only the end.',
    }),
  }),
  sample: { ...sample, sequence: 2, changes: { name: { from: 'Both', to: 'Everywhere' } } },
});

export const restreamDeleted = defineEvent({
  type: 'restream.deleted',
  description: 'A restream was deleted, by a call or with its stream.',
  data,
  sample: { ...sample, sequence: 9 },
});

export const restreamStarted = defineEvent({
  type: 'restream.started',
  description: 'A restream begins to send, or to wait for the encoder.',
  data,
  sample: { ...sample, status: 'STARTING', sequence: 3 },
});

export const restreamStopped = defineEvent({
  type: 'restream.stopped',
  description: 'A restream sends no more, by a call or because what it follows has ended.',
  data,
  sample: { ...sample, sequence: 8 },
});

export const targetConnected = defineEvent({
  type: 'restream.target.connected',
  description: 'A destination has accepted the broadcast and takes it.',
  data: targetData,
  sample: { ...targetSample, sequence: 4 },
});

export const targetDisconnected = defineEvent({
  type: 'restream.target.disconnected',
  description: 'A destination that was sent to is no more. With severity NORMAL it is tried again.',
  data: targetData,
  sample: {
    ...targetSample,
    severity: 'NORMAL',
    errorMessage: 'The destination has closed the connection.',
    retryCount: 1,
    sequence: 5,
  },
});

export const targetFailed = defineEvent({
  type: 'restream.target.failed',
  description:
    'A destination cannot be sent to. With severity NORMAL it is tried again, and only the first failure in a row is told; with FATAL it waits for you.',
  data: targetData,
  sample: {
    ...targetSample,
    severity: 'FATAL',
    errorMessage: 'The destination refuses the stream key.',
    retryCount: 3,
    sequence: 6,
  },
  notice: {
    severity: 'WARNING',
    words: ({ severity, platform, errorMessage, restreamId: id }) => {
      if (severity !== 'FATAL') return null;
      return {
        title: `A broadcast is not sent on (${platform})`,
        body: `${errorMessage ?? ''} It is not tried again until you change the target or ask for it.`.trim(),
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
