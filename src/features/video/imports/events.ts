import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Nullable, NullableObject, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

const data = namedSchema(
  'ImportEventData',
  Type.Object({
    importId: Type.String(),
    videoId: Nullable(Type.String()),
    provider: OneOf(VALUES.import.provider),
    error: NullableObject(Type.Object({ code: Type.String(), message: Type.String() })),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this import.' }),
  }),
);
const sample = {
  importId: 'imp_01kafe3n4pfx2v9yq6m8d7t5zr',
  videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zs',
  provider: 'URL',
  error: null,
  sequence: 1,
} as const;

export const importCompleted = defineEvent({
  type: 'import.completed',
  description: 'An import was completed and its video is ready.',
  data,
  sample,
});

export const importFailed = defineEvent({
  type: 'import.failed',
  description: 'An import failed: the file could not be fetched, or the video could not be processed.',
  data,
  sample: {
    ...sample,
    error: { code: 'SOURCE_UNREACHABLE', message: 'The server returned status 404.' },
  },
});

export const importEvents: EventDefinition[] = [importCompleted, importFailed];
